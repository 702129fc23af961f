#include "shared/swarm/owner_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "shared/swarm/measured_members.h"

namespace starling::swarm {
namespace {

constexpr std::size_t kShort = wire::kShortSketchFloats;
constexpr double kFloatRounding = 0x1p-24;
constexpr double kSketchRounding = 1e-6;
// Lengths below are those of zeros: codecs drop values of this magnitude.
constexpr double kNothing = 1e-24;

using Buckets = std::array<double, kShort>;

double length(const Buckets& sketch) {
  double square = 0;
  for (const double bucket : sketch) square += bucket * bucket;
  return std::sqrt(square);
}

Buckets buckets_of(std::span<const float> sketch) {
  Buckets buckets{};
  std::copy(sketch.begin(), sketch.end(), buckets.begin());
  return buckets;
}

// The most that the codec changes a vector, relative to its length.
double codec_rounding(wire::Codec codec, std::int64_t segment_floats) {
  switch (codec) {
    case wire::Codec::fp32:
      return 0;
    case wire::Codec::fp16:
      return 0x1p-9 + 0x1p-24 * std::sqrt(static_cast<double>(segment_floats));
    case wire::Codec::bf16:
      return 0x1p-6;
    case wire::Codec::int8:
      return 1.5 * std::sqrt(static_cast<double>(wire::kInt8BlockFloats)) / 253;
    case wire::Codec::int4:
      return 1.5 * std::sqrt(static_cast<double>(wire::kInt4BlockFloats)) / 13.9;
    case wire::Codec::sparse:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

// Accounts' voices about something. Computers of one account that contradict each other give it none.
template <typename Value>
class Voices {
 public:
  // `voter`: wire::GroupMember::voter.
  void hear(std::uint32_t voter, Value value) {
    if (voter == 0) {
      single_.push_back(std::move(value));
    } else {
      of_account_[voter].insert(std::move(value));
    }
  }
  // The value that more than half of the accounts say.
  [[nodiscard]] std::optional<Value> majority() const {
    std::map<Value, std::size_t> votes;
    for (const Value& value : single_) ++votes[value];
    for (const auto& [voter, values] : of_account_) {
      if (values.size() == 1) ++votes[*values.begin()];
    }
    for (const auto& [value, count] : votes) {
      if (2 * count > single_.size() + of_account_.size()) return value;
    }
    return std::nullopt;
  }

 private:
  std::vector<Value> single_;
  std::map<std::uint32_t, std::set<Value>> of_account_;
};

// One round's words, put in order.
class Words {
 public:
  explicit Words(const SketchedRound& round) : round_(round), parts_(sketched_parts(round.seed, round.plan)) {
    for (std::size_t rank = 0; rank < round.samples.size(); ++rank) {
      if (round.samples[rank] > 0) contributors_.push_back(rank);
    }
    for (const std::size_t rank : contributors_) agreed_[rank] = agreed_factor(rank);
  }

  [[nodiscard]] const std::vector<std::size_t>& parts() const { return parts_; }
  [[nodiscard]] const std::vector<std::size_t>& contributors() const { return contributors_; }

  // Each contributor was counted whole in this part, as its owner tells.
  [[nodiscard]] bool whole_in(std::size_t owner) const {
    return std::all_of(contributors_.begin(), contributors_.end(),
                       [&](std::size_t rank) { return rank == owner || place_of(owner, rank).has_value(); });
  }
  // Likewise in all parts.
  [[nodiscard]] bool whole() const {
    const auto& members = round_.plan.members;
    for (std::size_t owner = 0; owner < members.size(); ++owner) {
      if (members[owner].part_floats > 0 && !whole_in(owner)) return false;
    }
    return true;
  }

  // The sketch of part `index` of those that are sketched; empty where there is none.
  [[nodiscard]] std::span<const float> contributed(std::size_t rank, std::size_t index) const {
    const wire::OwnSketches* own = round_.own[rank];
    return own == nullptr ? std::span<const float>() : piece(own->contributed, index);
  }
  [[nodiscard]] std::optional<std::vector<float>> result(std::size_t index) const {
    Voices<std::vector<float>> voices;
    for (std::size_t rank = 0; rank < round_.own.size(); ++rank) {
      if (round_.own[rank] == nullptr) continue;
      const std::span<const float> said = piece(round_.own[rank]->result, index);
      const bool finite = std::all_of(said.begin(), said.end(), [](float value) { return std::isfinite(value); });
      if (!said.empty() && finite) voices.hear(voter(rank), {said.begin(), said.end()});
    }
    return voices.majority();
  }

  // The number by which the owner multiplied a contribution: as it says, or as most owners say of that member.
  [[nodiscard]] double told_factor(std::size_t owner, std::size_t rank) const {
    if (rank == owner) return contributors_.size() <= kFewContributors ? 1 : agreed_.at(rank).value_or(1);
    return factor_told_by(owner, rank).value_or(1);
  }
  [[nodiscard]] double agreed_factor(std::size_t owner, std::size_t rank) const {
    return rank == owner ? told_factor(owner, rank) : agreed_.at(rank).value_or(told_factor(owner, rank));
  }

 private:
  [[nodiscard]] std::uint32_t voter(std::size_t rank) const { return round_.plan.members[rank].voter; }
  [[nodiscard]] std::span<const float> piece(std::span<const float> sketches, std::size_t index) const {
    if (sketches.size() != parts_.size() * kShort) return {};
    return sketches.subspan(index * kShort, kShort);
  }
  [[nodiscard]] std::optional<std::size_t> place_of(std::size_t owner, std::size_t rank) const {
    const wire::MeasuredParts* told = round_.measured[owner];
    if (told == nullptr) return std::nullopt;
    const auto found = std::lower_bound(told->members.begin(), told->members.end(), static_cast<std::int64_t>(rank));
    if (found == told->members.end() || *found != static_cast<std::int64_t>(rank)) return std::nullopt;
    return static_cast<std::size_t>(found - told->members.begin());
  }
  [[nodiscard]] std::optional<float> factor_told_by(std::size_t owner, std::size_t rank) const {
    const std::optional<std::size_t> place = place_of(owner, rank);
    if (!place) return std::nullopt;
    const std::vector<float>& factors = round_.measured[owner]->factors;
    if (factors.empty()) return 1.0F;
    if (*place >= factors.size() || !(factors[*place] >= 0 && factors[*place] <= 1)) return std::nullopt;
    return factors[*place];
  }
  [[nodiscard]] std::optional<float> agreed_factor(std::size_t rank) const {
    Voices<float> voices;
    for (std::size_t owner = 0; owner < round_.measured.size(); ++owner) {
      if (owner == rank) continue;
      if (const std::optional<float> told = factor_told_by(owner, rank)) voices.hear(voter(owner), *told);
    }
    return voices.majority();
  }

  const SketchedRound& round_;
  std::vector<std::size_t> parts_;         // owners of parts that are sketched
  std::vector<std::size_t> contributors_;  // ranks
  std::map<std::size_t, std::optional<float>> agreed_;
};

}  // namespace

ShortSketch shortened(const Sketch& sketch) {
  constexpr std::size_t kTogether = kSketchBuckets / kShort;
  ShortSketch sums{};
  for (std::size_t i = 0; i < kShort; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < kTogether; ++k) sum += sketch[i * kTogether + k];
    sums[i] = static_cast<float>(sum);
  }
  return sums;
}

Residual residual_of(std::span<const SketchedContribution> contributions, std::span<const float> result,
                     wire::Codec codec, std::int64_t segment_floats) {
  double weight = 0;
  for (const SketchedContribution& each : contributions) weight += static_cast<double>(each.weight);
  Buckets difference = buckets_of(result);
  const double whole = length(difference);
  double summands = 0;
  for (const SketchedContribution& each : contributions) {
    const Buckets sketch = buckets_of(each.sketch);
    const double share = each.factor / weight;
    for (std::size_t i = 0; i < kShort; ++i) difference[i] -= sketch[i] * share;
    summands += length(sketch) * share;
  }
  const double apart = length(difference);
  if (!std::isfinite(apart)) return {std::numeric_limits<double>::infinity(), 0};
  if (apart < kNothing) return {};
  if (whole == 0) return {std::numeric_limits<double>::infinity(), 0};
  const double sums = kFloatRounding * (static_cast<double>(contributions.size()) + 3) * summands;
  const double sketches = kSketchRounding * (summands + whole);
  return {apart / whole, (sums + sketches) / whole + codec_rounding(codec, segment_floats)};
}

std::vector<PartCheck> check_owners(const SketchedRound& round, bool all_whole) {
  std::vector<PartCheck> checks;
  const Result<wire::Codec> codec = wire::codec_from_name(round.plan.codec);
  const Words words(round);
  if (!codec.ok() || *codec == wire::Codec::sparse || words.contributors().empty()) return checks;
  if (!all_whole && !words.whole()) return checks;
  for (std::size_t index = 0; index < words.parts().size(); ++index) {
    const std::size_t owner = words.parts()[index];
    const std::optional<std::vector<float>> result = words.result(index);
    if (!result || round.measured[owner] == nullptr) continue;
    std::vector<SketchedContribution> agreed;
    std::vector<SketchedContribution> told;
    for (const std::size_t rank : words.contributors()) {
      const std::span<const float> sketch = words.contributed(rank, index);
      if (sketch.empty()) break;
      agreed.push_back({round.samples[rank], words.agreed_factor(owner, rank), sketch});
      told.push_back({round.samples[rank], words.told_factor(owner, rank), sketch});
    }
    if (agreed.size() != words.contributors().size()) continue;
    PartCheck check;
    check.owner = owner;
    check.residual = residual_of(agreed, *result, *codec, round.plan.segment_floats);
    check.scaled_otherwise =
        check.residual.is_off() && !residual_of(told, *result, *codec, round.plan.segment_floats).is_off();
    checks.push_back(check);
  }
  return checks;
}

}  // namespace starling::swarm
