// The next averaging when the coordinator is away: every survivor of a round computes it alike, and a coordinator that
// knows the last decided round can prove it.
#pragma once

#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/protocol/group_info.h"

namespace starling::swarm {

// The part of a plan that decides which group may follow it, and under which id.
struct Seating {
  struct Seat {
    PeerId peer;
    wire::MemberRole role = wire::MemberRole::full;
  };
  GroupId id;
  RoundIndex round = 0;
  std::vector<Seat> seats;  // by rank
};
Seating seating_of(const wire::GroupInfo& group);

// The seating of the round after `last`, for members that stepped to `state_digest`: the same members in the same
// order. Those with samples in the round (`contributed`, by rank; at least one) keep their roles, and those that came
// late are full members now; nobody waits for the others (MemberRole::late). Only facts that all survivors agree on
// enter, so members without a coordinator get the same id without a word between them, and members at another state get
// another.
Seating succeed(const Seating& last, const std::vector<bool>& contributed, const Digest& state_digest);

// The group of the round after `last`, with succeed()'s members, roles and id. Those that had samples averaged in
// (`contributed`, by rank of `last`, agreed by all survivors; at least one is above 0) have parts in the same
// proportions. begin_within_ms is doubled, once: members notice at different times that nobody calls the meeting for
// them.
wire::GroupInfo plan_successor(const wire::GroupInfo& last, std::span<const SampleCount> contributed,
                               const Digest& state_digest);

}  // namespace starling::swarm
