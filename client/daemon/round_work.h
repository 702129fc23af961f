// The rounds of a run, or of a cell: client/rounds decides what is contributed and how, on the control thread; the
// averagings run on the network, and the computations between them on the trainer thread. Control thread, where nothing
// else is said.
#pragma once

#include <functional>
#include <span>

#include "client/daemon/run_threads.h"
#include "client/rounds/round_payload.h"
#include "client/transport/peer_network.h"
#include "shared/base/clock.h"
#include "shared/base/limited_log.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// The network as rounds of one vector use it.
struct Averager {
  std::function<Status(transport::AverageRequest request)> average;
  std::function<void()> abandon;  // forgets the round: afterwards its vectors are the caller's again
};
// Rounds that everything else gives way to. `network` is not used after the run was stopped.
Averager averager_of(transport::PeerNetwork& network);
// Rounds beside them, of one cell: runs with cells do not gossip, so that the buckets are free.
Averager averager_of(transport::PeerNetwork& network, wire::CellIndex cell);

class RoundWork {
 public:
  struct Listener {
    std::function<void(transport::AverageRequest&)> contribution;  // Outgoing::contribution
    // A round's averaging is over. An event, except where average() can already say so.
    std::function<void(TimePoint now, const averaging::AveragingOutcome& outcome)> averaged;
  };
  // `threads` outlives this object.
  RoundWork(RunThreads& threads, const wire::RunManifest& manifest, Averager averager, Listener listener);

  // A batch with this target is next. Ends the averaging first whose contribution does not count, as that shows.
  rounds::BatchOrder next_batch(const rounds::BatchTarget& target);
  void on_batch(SampleCount samples) { payload_.on_batch(samples); }

  // Averages the present round's sum with the group. A plan that the session had accepted may be refused here: then the
  // outcome is that this member was expelled. `state`: RoundPayload::contribute.
  void average(const wire::GroupInfo& group, averaging::Rank self, const averaging::ContributionTerms& terms,
               std::span<const float> state);

  // Nothing is averaged any more, and nobody reads the vectors.
  void stop() { averager_.abandon(); }

  // The payload, for the step on its average() and the distance before that step, both where steps are taken.
  [[nodiscard]] const rounds::RoundPayload& payload() const { return payload_; }
  // The step has been tried; `distance` is RoundPayload::consensus_distance before it.
  void on_stepped(double distance, bool stepped);

  // The distance of the last step; 0 where gradients are averaged.
  [[nodiscard]] double consensus_distance() const { return consensus_distance_; }

 private:
  void follow(TimePoint now, rounds::Move move);
  void begin(const rounds::Leg& leg);
  void refuse(const Error& why);

  RunThreads& threads_;
  const Averager averager_;
  const Listener listener_;
  rounds::RoundPayload payload_;
  std::size_t members_planned_ = 0;  // members of the last averaging's plan
  double consensus_distance_ = 0;
  LimitedLog scaled_;
  LimitedLog refused_;
};

}  // namespace starling::daemon
