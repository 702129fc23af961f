// The steps by which a contribution becomes the group's average: averagings with the group, which are called *legs*,
// and computations before, between and after them.
#pragma once

#include <functional>
#include <variant>

#include "client/averaging/all_reduce.h"
#include "shared/protocol/group_info.h"

namespace starling::rounds {

// One averaging with a group. The vectors belong to the payload, or to the gossip: they stay valid, and the input
// unchanged, until the same bucket's next leg that does not follow this one, or until the caller has ended the
// averaging.
struct Leg {
  wire::GroupInfo group;
  averaging::Rank self = 0;
  averaging::RoundVectors vectors;
  averaging::AllReduceOptions engine;
  // This averaging comes after another one of the same round by the same group. That one goes on answering slower
  // members, and members lost in it are not waited for.
  bool follows = false;
};

// Arithmetic on whole vectors. It takes long, so it runs where batches are computed, and none is computed meanwhile.
struct Computation {
  std::function<void()> run;
};

// The next step: an averaging, a computation, or nothing, because the round's averaging has ended with this outcome.
using Move = std::variant<Leg, Computation, averaging::AveragingOutcome>;

}  // namespace starling::rounds
