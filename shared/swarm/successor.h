// The next averaging when the coordinator is away: what every survivor of a round computes alike.
#pragma once

#include <span>

#include "shared/base/ids.h"
#include "shared/wire/group_info.h"

namespace starling::swarm {

// The group of the round after `last`: its members in the same order. Those that had samples averaged in
// (`contributed`, by rank of `last`, is agreed by all survivors; at least one is above 0) have parts in the same
// proportions; nobody waits for the others (MemberRole::late), which may be gone, or may only have come too late. Only
// agreed facts enter, so every survivor gets the same group, id included, without a word between them. `state_digest`:
// of the state they stepped to; whoever came to another one gets another group. begin_within_ms is doubled, once:
// members notice at different times that nobody calls the meeting for them.
wire::GroupInfo plan_successor(const wire::GroupInfo& last, std::span<const SampleCount> contributed,
                               const Digest& state_digest);

}  // namespace starling::swarm
