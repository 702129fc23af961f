#include "tests/sim/cheats.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <variant>

#include "coordinator/core/audit_standing.h"

namespace starling::sim {
namespace {

constexpr std::size_t kToldMax = 100'000;
constexpr int kMissesUntilOut = 2;
constexpr std::ptrdiff_t kGroupMin = 9;  // three in one voice are many in a smaller group

std::pair<std::int64_t, SampleCount> place_of(const wire::SampleRange& samples) {
  const bool leased = samples.epoch != wire::kNoEpoch;
  return {leased ? samples.epoch : -1 - samples.lane - 4096 * samples.round, samples.first};
}

}  // namespace

void Cheats::on_computed(const PeerId& liar, const wire::SampleRange& samples, std::span<const float> sum,
                         bool is_false) {
  if (!is_false) return;
  liars_[liar].cheats = true;
  if (told_.size() > kToldMax) told_.clear();
  told_[place_of(samples)].assign(sum.begin(), sum.end());
}

void Cheats::on_contributed(const PeerId& liar, RoundIndex round) {
  Liar& known = liars_[liar];
  if (std::exchange(known.cheats, false)) known.false_rounds.insert(round);
}

void Cheats::cover_up(const wire::SampleRange& samples, std::span<float> sum) const {
  const auto told = told_.find(place_of(samples));
  if (told != told_.end() && told->second.size() == sum.size()) {
    std::copy(told->second.begin(), told->second.end(), sum.begin());
  } else {
    for (float& value : sum) value = -value;
  }
}

void Cheats::on_stored(const core::StoreOp& op, bool lies, RoundIndex round) {
  if (const auto* audit = std::get_if<core::AuditStored>(&op)) {
    if (audit->verdict == core::AuditVerdict::clean) ++tally_.clean;
    if (audit->verdict == core::AuditVerdict::unchecked) ++tally_.unchecked;
    if (audit->verdict != core::AuditVerdict::missed) return;
    ++tally_.missed;
    Liar& liar = liars_[audit->peer];
    if (++liar.misses >= kMissesUntilOut && liar.out < 0) liar.out = round;
  } else if (const auto* voided = std::get_if<core::CreditVoided>(&op)) {
    if (!lies) ++tally_.honest_sanctions;
    std::set<RoundIndex>& rounds = liars_[voided->peer].false_rounds;
    rounds.erase(rounds.lower_bound(voided->from), rounds.end());
  }
}

void blame(std::vector<wire::RoundReport>& reports, const PeerId& victim) {
  for (wire::RoundReport& report : reports) {
    const auto rank = std::find(report.members.begin(), report.members.end(), victim) - report.members.begin();
    if (!report.measured || std::ssize(report.members) < kGroupMin) continue;
    wire::MeasuredParts& told = *report.measured;
    const auto place = std::find(told.members.begin(), told.members.end(), rank) - told.members.begin();
    if (place == std::ssize(told.members)) continue;
    const auto first = told.sketches.begin() + place * static_cast<std::ptrdiff_t>(wire::kSketchFloats);
    std::transform(first, first + wire::kSketchFloats, first, std::negate{});
  }
}

Cheats::Tally Cheats::tally(RoundIndex round) const {
  Tally tally = tally_;
  const RoundIndex final = core::final_below(rate_, round);
  for (const auto& [peer, liar] : liars_) {
    tally.liars_out += liar.out >= 0 ? 1 : 0;
    tally.last_out = std::max(tally.last_out, liar.out);
    const auto kept = std::distance(liar.false_rounds.begin(), liar.false_rounds.lower_bound(final));
    tally.false_rounds_kept = std::max<std::int64_t>(tally.false_rounds_kept, kept);
  }
  return tally;
}

}  // namespace starling::sim
