// The draw of those whose contributions owners measure, and of the parts that members sketch, where a group is too
// large for all of them (shared/protocol/audit.h). Owners, members and the coordinator draw alike. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "shared/base/hash.h"
#include "shared/protocol/group_info.h"

namespace starling::swarm {

// The ranks, ascending, of those whose contributions owners tell of: all of up to wire::kMeasuredMax members, otherwise
// as many of them, drawn from the round's result. In a grid: of a column's members, from the whole round's result.
std::vector<std::size_t> measured_members(const Hash128& result_digest, std::size_t members);

// The ranks, ascending, of the owners whose parts members sketch with this seed: of all parts that are not empty or,
// where there are more than wire::kMeasuredMax, of as many of them.
std::vector<std::size_t> sketched_parts(const Hash128& seed, const wire::GroupInfo& plan);

}  // namespace starling::swarm
