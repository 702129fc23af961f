#include "client/averaging/norm_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "client/averaging/codec.h"

namespace starling::averaging {
namespace {

constexpr double kRounding = 1.001;

// The square of few samples is itself far from its mean: some samples' gradients are many times as long as others'. It
// may be 1 + kTail / w times as large. Seen with guessed words and 2 to 9 samples: 8 times, and 26 times that of
// another member with 3.
constexpr double kTail = 16;

double tail(double samples) { return 1 + kTail / samples; }

// How much longer a vector may be after its codec than before, squared (the error bounds of codec.h).
double stretch(Codec codec) {
  switch (codec) {
    case Codec::fp32:
      return kRounding;
    case Codec::fp16:
    case Codec::bf16:
      return 1.02;
    case Codec::int8:
      return 1.1;
    case Codec::int4:
      return 2.5;
    case Codec::sparse:
      break;
  }
  return 4;
}

double mean_square(SampleCount weight, std::span<const float> norms) {
  double square = 0;
  for (const float norm : norms) square += static_cast<double>(norm) * norm;
  const auto samples = static_cast<double>(weight);
  return square / (samples * samples);
}

}  // namespace

double carried_over(const UsualNorm& usual, double samples, NormLaw law) {
  const double fewer = std::max(1.0, usual.samples / samples);
  const double more = std::max(1.0, samples / usual.samples);
  switch (law) {
    case NormLaw::gradient:
      return usual.square * fewer;
    case NormLaw::displacement:
      return usual.square * more * more;
    case NormLaw::feedback:
      break;
  }
  return usual.square * fewer * fewer * more * more;
}

std::vector<float> part_norms(const SegmentTable& table, std::span<const float> vector) {
  std::vector<float> norms;
  for (std::size_t rank = 0; rank < table.members(); ++rank) {
    double square = 0;
    for (SegmentIndex segment = table.first(rank); segment < table.first(rank + 1); ++segment) {
      square += square_sum(vector.subspan(static_cast<std::size_t>(table[segment].begin), table[segment].floats));
    }
    // Values that are not finite are refused when they come.
    const auto norm = std::isfinite(square) ? static_cast<float>(std::sqrt(square)) : 0.0F;
    // Rounded up: the values must not be longer than what is said of them.
    norms.push_back(square > 0 ? std::nextafter(norm, std::numeric_limits<float>::infinity()) : norm);
  }
  return norms;
}

NormBound::NormBound(const wire::GroupInfo& group, const SegmentTable& table, Rank self,
                     const AllReduceOptions& options)
    : table_(table),
      self_(self),
      ratio_squared_max_(options.norm_ratio_max * options.norm_ratio_max),
      law_(options.norm_law),
      recent_(options.usual),
      members_(group.members.size()) {
  std::size_t contributors = 0;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    members_[rank].stretch = stretch(wire::contribution_codec(group, rank));
    if (group.members[rank].role != wire::MemberRole::auxiliary) ++contributors;
  }
  few_ = contributors <= kFewMembers;
}

void NormBound::start(const RoundVectors& own) {
  take(self_, own.weight, own.weight > 0 ? part_norms(table_, own.input) : std::vector<float>());
}

void NormBound::take(Rank rank, SampleCount weight, std::vector<float> norms) {
  Member& member = members_[rank];
  member.begun = true;
  member.weight = weight;
  member.square = weight > 0 ? mean_square(weight, norms) : 0;
  member.norms = std::move(norms);
  decide(member);
}

Status NormBound::begin(Rank rank, SampleCount weight, std::vector<float> norms) {
  if (members_[rank].begun) return {};
  if (norms.size() != (weight > 0 ? members_.size() : 0)) {
    return nonsense(fmt::format("it told the norms of {} parts where there are {}", norms.size(), members_.size()));
  }
  take(rank, weight, std::move(norms));
  return {};
}

void NormBound::decide(Member& member) const {
  const auto samples = static_cast<double>(std::max<SampleCount>(member.weight, 1));
  const Member& own = members_[self_];
  double usual = recent_.empty() ? 0 : median_of(recent_, samples);
  if (few_ && own.weight > 0) {
    usual = std::max(usual, own_at(samples));
  }
  const double ratio = ratio_squared_max_ * tail(samples);
  if (ratio_squared_max_ == 0 || member.weight == 0 || member.square <= ratio * usual) {
    member.factor = 1;
  } else if (settled_) {
    if (const auto all = usual_at(samples)) usual = std::max(usual, *all);
    const double most = ratio * usual;
    // Where nothing is usual, nothing is unusual.
    member.factor = usual > 0 && member.square > most ? static_cast<float>(std::sqrt(most / member.square)) : 1.0F;
  }
}

void NormBound::settle() {
  if (settled_) return;
  settled_ = true;
  for (const Member& member : members_) {
    if (member.begun && member.weight > 0) {
      contributors_.push_back({static_cast<double>(member.weight), member.square});
    }
  }
  for (Member& member : members_) {
    if (member.begun && !member.factor) decide(member);
  }
}

std::optional<double> NormBound::usual_at(double samples) const {
  const Member& own = members_[self_];
  if (contributors_.size() <= kFewMembers && own.weight > 0) return own_at(samples);
  if (contributors_.empty()) return std::nullopt;
  return median_of(contributors_, samples);
}

double NormBound::own_at(double samples) const {
  const Member& own = members_[self_];
  const auto weight = static_cast<double>(own.weight);
  return tail(weight) * carried_over({weight, own.square}, samples, law_);
}

double NormBound::median_of(const std::vector<UsualNorm>& norms, double samples) const {
  std::vector<double> squares;
  for (const UsualNorm& each : norms) squares.push_back(carried_over(each, samples, law_));
  // The smaller of two in the middle, which half of all members cannot raise; where there are but two, the larger.
  const std::size_t size = squares.size();
  const std::size_t middle = size > kFewMembers ? (size - 1) / 2 : size / 2;
  std::nth_element(squares.begin(), squares.begin() + static_cast<std::ptrdiff_t>(middle), squares.end());
  return squares[middle];
}

void NormBound::wait(Waiting contribution) {
  if (waits_.insert({contribution.rank, contribution.segment}).second) waiting_.push_back(std::move(contribution));
}

std::vector<NormBound::Waiting> NormBound::take_waiting() {
  waits_.clear();
  return std::exchange(waiting_, {});
}

double NormBound::allowance(Rank rank, SegmentIndex segment) const {
  if (ratio_squared_max_ == 0) return std::numeric_limits<double>::infinity();
  const std::uint32_t owner = table_[segment].owner;
  const double norm = members_[rank].norms[owner];
  const auto received = received_.find({rank, owner});
  return norm * norm * members_[rank].stretch - (received == received_.end() ? 0 : received->second);
}

void NormBound::count(Rank rank, SegmentIndex segment, double square) {
  received_[{rank, table_[segment].owner}] += square;
}

void NormBound::forget_adopted() {
  std::erase_if(received_, [this](const auto& each) { return each.first.second != self_; });
}

std::optional<UsualNorm> NormBound::usual() const {
  if (!settled_ || contributors_.empty()) return std::nullopt;
  std::vector<UsualNorm> by_samples = contributors_;
  const auto middle = by_samples.begin() + std::ssize(by_samples) / 2;
  std::nth_element(by_samples.begin(), middle, by_samples.end(),
                   [](const UsualNorm& a, const UsualNorm& b) { return a.samples < b.samples; });
  const auto square = usual_at(middle->samples);
  if (!square || *square == 0) return std::nullopt;
  return UsualNorm{middle->samples, *square};
}

std::vector<ScaledMember> NormBound::scaled() const {
  std::vector<ScaledMember> scaled;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    if (members_[rank].factor.value_or(1) < 1) scaled.push_back({rank, *members_[rank].factor});
  }
  return scaled;
}

}  // namespace starling::averaging
