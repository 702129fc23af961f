// The times at which members call: seldom, but each of them shortly before the group starts. Pure arithmetic.
#pragma once

#include <deque>

#include "coordinator/core/types.h"

namespace starling::core {

// Smoothed figures of earlier rounds; zero while unknown.
struct Rhythm {
  Duration round{};        // from one decision to the next
  Duration averaging{};    // from the start of the group to its end
  Duration catching_up{};  // from a member's call for the state to its call with it
  // How much later than forecast batches are full; below zero, how much sooner. It holds whatever forecasts leave out:
  // batches that are half done when a member calls, the time until first ones begin, computers that do other work.
  Duration lag{};

  // time from a group's start until its last member began, one for each of the last groups
  std::deque<Duration> arrivals{};

  void on_arrival(Duration late);
  // Nearly all of the last arrivals were within this; zero while there have been too few.
  [[nodiscard]] Duration arrivals_within() const;
  void on_round(Duration took);
  void on_averaging(Duration took);
  void on_catching_up(Duration took);
  // Learns from a round: in another `later_s` seconds the group would have had the samples it should have, which take
  // `batch_s`. Below zero: it could have begun earlier.
  void on_filled(double later_s, double batch_s);
};

// Returns how long before its start a plan is frozen: long enough that everybody calls in between.
Duration plan_lead(const Rhythm& rhythm, std::size_t members, const CoordinatorOptions& options);

// Returns when a trainer should call next if the batch is expected to be full at `full` (kNever: unknown). It calls
// just after the plan is frozen, at a point of that window that `spread` (0 … 1) picks. If that is far away it calls
// once or twice before, since the forecast may be wrong.
Duration until_next_call(TimePoint now, TimePoint full, Duration lead, double spread);

// Join grace: how long a round that could be closed is held open for a member that is getting the state. Without it a
// swarm with short rounds would never let anybody in. `rounds_held` counts the earlier rounds that were held for this
// member without success; its download may take longer than any before it, and than usual_join_grace. `download` is the
// time that its line needs; zero: unknown.
Duration join_grace(const Rhythm& rhythm, int rounds_held, Duration download, const CoordinatorOptions& options);
// The longest join grace of an ordinary round. It also holds for members that measure the state that the round begins
// with, so that they need not load the next one; the others compute on, and this is a small part of the time
// (EvaluationTurn).
Duration usual_join_grace(const Rhythm& rhythm, const CoordinatorOptions& options);

// Bounds the interval so that all members together stay within heartbeats.per_s_max.
Duration bounded_interval(Duration wanted, std::size_t members, const CoordinatorOptions& options);

// Returns how long after the first report of a round the others have to contradict it.
Duration report_grace(const Rhythm& rhythm, const CoordinatorOptions& options);

}  // namespace starling::core
