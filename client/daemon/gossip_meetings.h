// A run's gossip between rounds (client/rounds/gossip.h decides): buckets that have stepped come from the trainer, and
// meet partners over the network. Does nothing in a run without gossip.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/daemon/run_threads.h"
#include "client/rounds/gossip.h"
#include "client/trainer_link/trainer_process.h"
#include "client/transport/peer_network.h"
#include "shared/base/limited_log.h"

namespace starling::daemon {

class GossipMeetings {
 public:
  // `threads` outlives this object; `trainer` and `network` are not used after the run was stopped. Null: no gossip.
  GossipMeetings(RunThreads& threads, std::unique_ptr<rounds::Gossip> gossip, trainer_link::TrainerProcess& trainer,
                 transport::PeerNetwork& network);

  // Ends all meetings, and none begins until the next round is over. Control thread.
  void on_round_planned(const wire::GroupInfo& plan);
  // Ends all meetings, because the replica loses its state. Control thread.
  void end_round();
  // The round is over; `distance`: see rounds::Gossip::begin_round. Control thread.
  void begin_round(const wire::RoundReport& report, double distance);
  // The steps of the batch are void. Trainer thread.
  void on_batch_failed() { stepped_child_ = kNoChild; }

  // Means over buckets: averagings with others, and those to which nobody else came. Control thread.
  [[nodiscard]] std::int64_t mixed() const { return gossip_ != nullptr ? gossip_->mixed() : 0; }
  [[nodiscard]] std::int64_t missed() const { return gossip_ != nullptr ? gossip_->missed() : 0; }

 private:
  static constexpr std::int64_t kNoChild = -1;

  void on_bucket_stepped(const wire::Bucket& bucket);
  void meet(std::size_t bucket, const std::optional<rounds::Leg>& leg);

  RunThreads& threads_;
  const std::unique_ptr<rounds::Gossip> gossip_;
  trainer_link::TrainerProcess& trainer_;
  transport::PeerNetwork& network_;
  std::int64_t stepped_child_ = kNoChild;  // trainer thread: the child whose steps own parameters follow
  LimitedLog refused_;
};

}  // namespace starling::daemon
