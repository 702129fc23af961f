// When members call: seldom, but every one of them shortly before the group starts. Pure arithmetic.
#pragma once

#include <deque>

#include "coordinator/core/types.h"

namespace starling::core {

// What earlier rounds teach, smoothed; zero while unknown.
struct Rhythm {
  Duration round{};        // from one decision to the next
  Duration averaging{};    // from the start of the group to its end
  Duration catching_up{};  // from a member's call for the state to its call with it
  // How much later than forecast batches are full; below zero: how much sooner. Whatever forecasts leave out is in it:
  // batches that are half done when a member calls, the time until first ones begin, computers that do other work.
  Duration lag{};

  std::deque<Duration> arrivals{};  // how long after their group's start members began, the last ones

  void on_arrival(Duration late);
  // Nearly all of the last arrivals were within this; zero while there have been too few.
  [[nodiscard]] Duration arrivals_within() const;
  void on_round(Duration took);
  void on_averaging(Duration took);
  void on_catching_up(Duration took);
  // Another `later_s` seconds would have brought what a group should have, and what takes `batch_s`; below zero: it
  // could have begun earlier.
  void on_filled(double later_s, double batch_s);
};

// How long before its start a plan is frozen: enough that everybody calls in between.
Duration plan_lead(const Rhythm& rhythm, std::size_t members, const CoordinatorOptions& options);

// What a trainer is told when the batch is expected to be full at `full` (kNever: unknown). It calls just after
// the plan is frozen, at a point of that window that `spread` (0 … 1) picks; when that is far away, once or
// twice before, since the forecast may be wrong.
Duration until_next_call(TimePoint now, TimePoint full, Duration lead, double spread);

// How long a round that could be closed is held open for a member that is getting the state: without this, a swarm
// with short rounds would never let anybody in. `welcomes`: rounds that were held for this one before, in vain; its
// download may take longer than any before it, and than usual_welcome. `download`: what it takes by its line; zero: not
// known.
Duration welcome_time(const Rhythm& rhythm, int welcomes, Duration download, const CoordinatorOptions& options);
// As long as may be waited in any round; for members that measure the state that the round begins with, too: they need
// not load the next one then. The others compute on, and this is for a small part of the time (EvaluationTurn).
Duration usual_welcome(const Rhythm& rhythm, const CoordinatorOptions& options);

// Into the allowed range: no more than heartbeats_per_s_max in all.
Duration bounded_interval(Duration wanted, std::size_t members, const CoordinatorOptions& options);

// How long after the first report of a round the others have to contradict it.
Duration report_grace(const Rhythm& rhythm, const CoordinatorOptions& options);

}  // namespace starling::core
