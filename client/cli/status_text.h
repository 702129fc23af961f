// A daemon's status as text for people.
#pragma once

#include <string>

#include "shared/control/control.h"

namespace starling::cli {

// Several lines: activity, the round, the swarm, the volunteer's own account.
std::string format_status(const wire::DaemonStatus& status);
// One line, for --follow.
std::string format_status_line(const wire::DaemonStatus& status);
// A bar of `width` characters, filled in proportion; fraction is clamped to [0, 1].
std::string progress_bar(double fraction, int width);
// "1.2 MB".
std::string bytes_text(double bytes);

}  // namespace starling::cli
