// What must hold at every step of every simulated swarm. The first thing that does not is kept, in words.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "coordinator/core/types.h"
#include "shared/base/hash.h"
#include "shared/wire/messages.h"
#include "tests/sim/coordinator.h"

namespace starling::sim {

class Invariants {
 public:
  // `options` must outlive this object.
  Invariants(const SwarmOptions& options, const Digest& initial_state) : options_(options), states_{initial_state} {}
  // Members of one group that finished a round hold the same bits and agree on who gave what.
  void on_report(const wire::RoundReport& report);
  // The ledger holds each round once, as some group reported it, and never gives a member a round twice. Of leased
  // samples it counts those that were averaged in, and none that was counted before.
  void on_durable(const core::RoundDecided& round);
  // What a member brought to a group is what its draws say; see on_durable.
  void on_gradient(const PeerId& peer, const GroupId& group, const averaging::Stake& stake,
                   const std::vector<std::pair<std::int64_t, std::int64_t>>& samples);
  // Only what can not be used is set aside, and nothing that was counted.
  void on_set_aside(const core::SampleSetAside& sample);
  // Epochs of so many samples that were counted whole, but for what was set aside. All are, some rounds after the next
  // one has begun.
  std::int64_t check_epochs(std::int64_t epoch_samples);
  [[nodiscard]] SampleCount counted() const { return static_cast<SampleCount>(counted_.size()); }
  [[nodiscard]] SampleCount set_aside() const { return static_cast<SampleCount>(set_aside_.size()); }
  // A report is only let go when its round is in the ledger.
  void on_forgotten(const Store& store, const wire::RoundReport& report);
  void on_adopted(const core::StateAdopted& adopted);
  // A member was told that the result does not count.
  void on_withdrawn(const Store& store, const wire::RoundReport& report);
  // Of one mixing between rounds: members that were through with each other hold the same mean, of each of them once.
  void on_mixed(const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome);
  void fail(std::string what);

  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  using Samples = std::vector<std::pair<std::int64_t, std::int64_t>>;  // (epoch, place)
  struct Finished {
    Hash128 result;
    Digest state;
    std::vector<SampleCount> accepted;                                          // by column of a grid
    std::map<std::uint32_t, std::map<PeerId, averaging::Stake>> contributions;  // by column; of one group, column 0
  };
  // Of one member to a group: several, when a process followed another.
  struct Brought {
    SampleCount draw = 0;
    Samples samples;
  };
  // What of the peer's gradient was averaged in, by its draws.
  [[nodiscard]] Samples averaged(const GroupId& group, const PeerId& peer, const averaging::Stake& accepted) const;
  [[nodiscard]] bool unusable(const std::pair<std::int64_t, std::int64_t>& sample) const;
  void check_counted(const core::RoundDecided& round, const PeerId& peer, const averaging::Stake& accepted);
  const SwarmOptions& options_;
  std::set<Digest> states_;  // that somebody has honestly come to
  std::map<GroupId, Finished> finished_;
  std::map<GroupId, Hash128> mixed_;
  std::set<std::pair<RoundIndex, PeerId>> credited_;
  std::map<std::pair<GroupId, PeerId>, std::vector<Brought>> brought_;
  std::set<std::pair<std::int64_t, std::int64_t>> counted_;    // (epoch, place)
  std::set<std::pair<std::int64_t, std::int64_t>> set_aside_;  // the same
  std::map<std::int64_t, std::int64_t> begun_;                 // by epoch, how many rounds were durable then
  std::int64_t durable_ = 0;
  std::string broken_;
};

}  // namespace starling::sim
