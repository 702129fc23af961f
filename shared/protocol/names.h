// The limit of names that people show to each other.
#pragma once

#include <cstddef>

namespace starling::wire {

constexpr std::size_t kDisplayNameBytesMax = 128;  // for volunteers, teams, operators and projects
constexpr std::size_t kShortNameBytesMax = 40;     // the most that older programs bear

}  // namespace starling::wire
