// A member's own sketches of a round (wire::OwnSketches): what it says that it has contributed to each part, and what
// came out. Owners and the coordinator compare them with what arrived (shared/protocol/audit.h). Pure.
#pragma once

#include <span>

#include "client/averaging/round_types.h"
#include "shared/protocol/audit.h"

namespace starling::averaging {

// The plan has passed check_group. `contribution`: the vector that this member brought, empty if it brought none;
// `result`: the round's, empty if it is not to be sketched. swarm::sketched_parts says which parts are sketched.
//
// Contributions to others are sketched as these decoded them: each segment goes through the codec and back. The own
// part is sketched as it is, because so it is added. Nothing is scaled, as in the owners' sketches.
//
// Equal to the bit: the values that are sketched and those that the owners decoded (codecs give the same bits on every
// machine); and, on all machines, the sketches of equal vectors with one plan and seed, so all members that hold the
// result tell the same of it. Not equal to the bit: the sketch of a sum and the sum of sketches (single precision,
// about 1e-7 of the vectors' length); and an owner's sketch with the same seed, since it adds segments up as they come
// (the last bits of a double, which becomes a float then).
wire::OwnSketches own_sketches(const wire::GroupInfo& plan, Rank self, std::span<const float> contribution,
                               std::span<const float> result, const Hash128& seed);

}  // namespace starling::averaging
