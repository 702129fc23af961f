// One short-lived program, run to its end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::updates {

constexpr std::size_t kChildOutputKept = 4096;  // only this much of the output's end is kept

// Standard output and error together, once it has ended with status 0. io, with the end of its output, for another
// status; deadline_exceeded or unavailable (`go_on` returned false) after it was killed with its children.
Result<std::string> run_child(const std::vector<std::string>& command, Duration limit,
                              const std::function<bool()>& go_on);

}  // namespace starling::updates
