// The text of a verdict. Inside client/policy only.
#pragma once

#include <string>

#include "client/policy/policy.h"

namespace starling::policy {

// Fills in text, end and action for the verdict's reason; leaves them for Reason::none.
void explain(const Situation& situation, Verdict& verdict);
// Text for when the volunteer's own request keeps the graphics card free.
std::string gpu_pause_text(const Situation& situation);
// The first running program of the exclusive programs, or null.
const std::string* exclusive_program_running(const Situation& situation);

}  // namespace starling::policy
