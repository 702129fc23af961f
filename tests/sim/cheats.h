// Liars that do not do the work which they are credited with, auditors that cover up for them and blame others, and
// what becomes of both: the bookkeeping behind the invariants of audits.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "coordinator/core/types.h"
#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"
#include "shared/run/training_data.h"

namespace starling::sim {

class Cheats {
 public:
  // audit_rate: the run's.
  explicit Cheats(double audit_rate) : rate_(audit_rate) {}

  // A liar has computed these samples; `sum` is what it adds to its contribution, false or not.
  void on_computed(const PeerId& liar, const wire::SampleRange& samples, std::span<const float> sum, bool is_false);
  void on_contributed(const PeerId& liar, RoundIndex round);
  // A colluding auditor has recomputed these samples: it tells what the liar told, or blames an honest member.
  void cover_up(const wire::SampleRange& samples, std::span<float> sum) const;
  // Something about audits is in the ledger. `lies`: the one that it is about does.
  void on_stored(const core::StoreOp& op, bool lies, RoundIndex round);

  struct Tally {
    std::int64_t clean = 0, missed = 0, unchecked = 0;
    std::int64_t honest_sanctions = 0;
    std::int64_t liars_out = 0;          // put out by a second miss, or banned
    RoundIndex last_out = -1;            // the round in which the last of these was, for the first time
    std::int64_t false_rounds_kept = 0;  // false ones that are credited for good: the most of one liar
  };
  // `round`: the last one that was decided.
  [[nodiscard]] Tally tally(RoundIndex round) const;

 private:
  using Place = std::pair<std::int64_t, SampleCount>;  // epoch or lane, and the first of the samples

  struct Liar {
    bool cheats = false;                // in the gradient that grows
    std::set<RoundIndex> false_rounds;  // those that are not taken back
    int misses = 0;
    RoundIndex out = -1;
  };
  double rate_;
  Tally tally_;
  std::map<PeerId, Liar> liars_;
  std::map<Place, std::vector<float>> told_;  // false sums
};

// A colluding owner says that it received something else from the victim.
void blame(std::vector<wire::RoundReport>& reports, const PeerId& victim);

}  // namespace starling::sim
