// Who tells the coordinator about whose line: each member of a group about some others at most, so that reports stay
// short. The group's id draws them. It is the coordinator's, so nobody chooses whom to speak about, or who speaks about
// him; and in the next group it is others.
#pragma once

#include <cstddef>
#include <vector>

#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"

namespace starling::swarm {

// Returns the places of the members that the one at `own` tells about: wire::kReceivedMax, or all others of a group
// that is no larger. Equally many tell about each. `own` is less than `members`.
std::vector<std::size_t> told_about(const GroupId& group, std::size_t own, std::size_t members);

}  // namespace starling::swarm
