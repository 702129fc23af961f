// The words of a verdict. Inside client/policy only.
#pragma once

#include <string>

#include "client/policy/policy.h"

namespace starling::policy {

// Fills in text, end and action of the verdict's reason; nothing for Reason::none.
void explain(const Situation& situation, Verdict& verdict);
// Why the volunteer's own wish keeps the graphics card free.
std::string gpu_pause_text(const Situation& situation);
// The first of the exclusive programs that runs, or null.
const std::string* exclusive_program_running(const Situation& situation);

}  // namespace starling::policy
