// The plans of averagings that one group makes one after the other in a round, of vectors of different lengths.
#pragma once

#include "shared/protocol/group_info.h"

namespace starling::swarm {

// Returns the plan of the index-th of them: parts in the proportions of `planned`, an id of its own. Equal on every
// machine.
wire::GroupInfo plan_leg(const wire::GroupInfo& planned, int index, std::int64_t vector_floats);

}  // namespace starling::swarm
