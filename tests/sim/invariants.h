// The invariants of every simulated swarm at every step. The first one that breaks is kept, in words.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "coordinator/core/types.h"
#include "shared/base/hash.h"
#include "shared/protocol/round_report.h"
#include "tests/sim/coordinator.h"
#include "tests/sim/feedback_check.h"

namespace starling::sim {

class Invariants {
 public:
  // Both must outlive this object.
  Invariants(const SwarmOptions& options, const wire::RunManifest& manifest)
      : options_(options), manifest_(manifest), feedback_(manifest), states_{manifest.initial_state_digest} {}
  // Members of one group that finished a round hold equal bits and agree on each other's contributions.
  void on_report(const wire::RoundReport& report);
  // The ledger holds each round once, in the form that some group reported, and never gives a member a round twice. It
  // counts those leased samples that were averaged in, and none that was counted before.
  void on_durable(const core::RoundDecided& round);
  // The member's own words about its samples may be false. `boasts`: its line is the slowest, whatever it says.
  void distrust(const PeerId& liar, bool boasts) {
    liars_.insert(liar);
    if (boasts) boasters_.insert(liar);
  }
  // The coordinator is back.
  void on_coordinator_started() { dealt_in_row_ = 0; }
  // Nobody is credited with more samples than its plan has room for.
  void on_plan(const wire::GroupInfo& group);
  // A member's contribution to a group agrees with its draws; see on_durable.
  void on_gradient(const PeerId& peer, const GroupId& group, const averaging::ContributionTerms& terms,
                   const std::vector<std::pair<std::int64_t, std::int64_t>>& samples);
  // Only samples that cannot be used are set aside, and none that was counted.
  void on_set_aside(const SampleSetAside& sample);
  // Returns the number of epochs with `epoch_samples` that were counted whole, except for samples set aside. All are,
  // some rounds after the next one has begun.
  std::int64_t check_epochs(std::int64_t epoch_samples);
  [[nodiscard]] SampleCount counted() const { return static_cast<SampleCount>(counted_.size()); }
  [[nodiscard]] SampleCount set_aside() const { return static_cast<SampleCount>(set_aside_.size()); }
  // A report is only let go when its round is in the ledger.
  void on_forgotten(const Store& store, const wire::RoundReport& report);
  void on_adopted(const core::StateAdopted& adopted);
  // A figure is believed: it is the one that honest members measure.
  void on_evaluated(const core::EvaluationStored& figure);
  // No member owns much more of the vector than the fastest line could, or leads a grid's column by its own word.
  void on_planned(const wire::GroupInfo& group);
  // A member has heard that the result does not count.
  void on_withdrawn(const Store& store, const wire::RoundReport& report);
  // Checks one gossip meeting between rounds: members that finished with each other hold one and the same mean, with
  // each of them once.
  void on_mixed(const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome);
  // Checks that error feedback loses nothing.
  [[nodiscard]] FeedbackCheck& feedback() { return feedback_; }
  // A common step changes nothing but the fragment that the round has averaged.
  void on_step(RoundIndex round, std::span<const float> before, std::span<const float> after);
  void fail(std::string what);

  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  using Samples = std::vector<std::pair<std::int64_t, std::int64_t>>;  // (epoch, place)
  struct Finished {
    Hash128 result;
    Digest state;
    std::vector<SampleCount> accepted;  // by column of a grid
    bool autonomous = false;
    std::map<std::uint32_t, std::map<PeerId, averaging::ContributionTerms>>
        contributions;  // by column; one group is column 0
  };
  // A member's contribution to a group: several, when a process followed another.
  struct Brought {
    SampleCount draw = 0;
    Samples samples;
  };
  // Returns the samples of the peer's gradient that were averaged in, by its draws.
  [[nodiscard]] Samples averaged(const GroupId& group, const PeerId& peer,
                                 const averaging::ContributionTerms& accepted) const;
  [[nodiscard]] bool unusable(const std::pair<std::int64_t, std::int64_t>& sample) const;
  // Whether the ledger gives the member what its group accepted; `credited`: its line's samples, 0 for none.
  [[nodiscard]] bool is_due(const core::RoundDecided& round, const PeerId& peer,
                            const averaging::ContributionTerms& accepted, SampleCount credited) const;
  // Nobody is credited with more samples than it may have, and nobody with more than were leased to it.
  void check_limits(const core::RoundDecided& round);
  void check_counted(const core::RoundDecided& round, const PeerId& peer, const averaging::ContributionTerms& accepted);
  const SwarmOptions& options_;
  const wire::RunManifest& manifest_;
  FeedbackCheck feedback_;
  std::set<PeerId> liars_;
  std::set<PeerId> boasters_;
  std::set<RoundIndex> boasted_;  // rounds with a boaster in a column, and those in which it led that
  std::set<RoundIndex> led_;
  std::map<std::pair<GroupId, PeerId>, SampleCount> room_;  // by plan and member
  int dealt_in_row_ = 2;      // the last rounds in the ledger that a coordinator dealt which is there since
  bool only_leased_ = false;  // the round that is looked at has no credit for other samples
  std::set<Digest> states_;   // states that a member has honestly come to
  std::map<GroupId, Finished> finished_;
  std::map<GroupId, Hash128> mixed_;
  std::set<std::pair<RoundIndex, PeerId>> credited_;
  std::map<std::pair<GroupId, PeerId>, std::vector<Brought>> brought_;
  std::set<std::pair<std::int64_t, std::int64_t>> counted_;    // (epoch, place)
  std::set<std::pair<std::int64_t, std::int64_t>> set_aside_;  // (epoch, place)
  std::map<std::int64_t, std::int64_t> begun_;                 // by epoch: the number of durable rounds when it began
  std::int64_t durable_ = 0;
  std::string broken_;
};

}  // namespace starling::sim
