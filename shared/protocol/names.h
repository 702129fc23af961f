// The limit of names that people show to each other.
#pragma once

#include <cstddef>

namespace starling::wire {

constexpr std::size_t kDisplayNameBytesMax = 128;  // for volunteers, teams, operators and projects

}  // namespace starling::wire
