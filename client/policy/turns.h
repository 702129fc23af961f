// Whose turn it is, where this computer has joined several projects: one is trained at a time, each as long as its
// share says. Pure.
#pragma once

#include <optional>
#include <span>

#include "shared/base/clock.h"

namespace starling::policy {

struct Claim {
  double share = 1;      // relative to the others; 0: only where no other can be trained
  double trained_s = 0;  // so far
  bool resting = false;  // it had nothing to train a while ago: its run is over, or its coordinator is away
};

struct TurnOptions {
  Duration turn = std::chrono::hours(1);        // as long one goes on, so that little time is lost with changing over
  Duration patience = std::chrono::minutes(5);  // for one that could be trained and is not
  Duration rest = std::chrono::minutes(30);     // of such a one, until it is asked again
};

struct Turn {
  Duration lasted{};     // since it began
  Duration untrained{};  // of it, the last stretch in which the rules allowed training and nothing was trained
};

// The index of who should be trained now; `current` stays where nobody has a better claim. `current` < claims.size().
std::size_t whose_turn(std::span<const Claim> claims, std::size_t current, const Turn& turn,
                       const TurnOptions& options);

// What a newcomer starts with, so that it neither catches up on time before it came nor waits for it.
double trained_at_start(std::span<const Claim> others);

}  // namespace starling::policy
