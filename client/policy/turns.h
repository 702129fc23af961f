// Turns of several projects on one computer: one is trained at a time, each in proportion to its share. Pure.
#pragma once

#include <optional>
#include <span>

#include "shared/base/clock.h"

namespace starling::policy {

// A joined project's claim to this computer's time.
struct Claim {
  double share = 1;      // relative to the others; 0: only when no other can be trained
  double trained_s = 0;  // training time so far
  bool resting = false;  // it had nothing to train recently: its run is over, or its coordinator is unreachable
};

// Lengths of turns and waits, which are alike for all projects of a computer.
struct TurnOptions {
  Duration turn = std::chrono::hours(1);        // length of a turn: long, so that little time is lost with switching
  Duration patience = std::chrono::minutes(5);  // wait for a project that could be trained and is not
  Duration rest = std::chrono::minutes(30);     // rest of such a project until it is tried again
};

// The turn under way, as far as it decides whether it ends.
struct Turn {
  Duration lasted{};     // time since the turn began
  Duration untrained{};  // latest stretch in which the rules allowed training and nothing was trained
};

// The index of the claim that should be trained now; stays `current` if no other claim is better. `current` <
// claims.size().
std::size_t whose_turn(std::span<const Claim> claims, std::size_t current, const Turn& turn,
                       const TurnOptions& options);

// trained_s of a new claim, so that it neither catches up on time before it came nor waits for it.
double trained_at_start(std::span<const Claim> others);

}  // namespace starling::policy
