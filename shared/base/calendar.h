// Times as people read and write them.
#pragma once

#include <string>

#include "shared/base/clock.h"

namespace starling {

// "2024-06-11 17:05 UTC".
std::string utc(WallTime time);
// "2024-06-11 17:05", in this machine's time zone.
std::string local_time(WallTime time);

}  // namespace starling
