#include "client/averaging/norm_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "client/averaging/codec.h"
#include "client/averaging/own_parts.h"

namespace starling::averaging {
namespace {

constexpr double kRounding = 1.001;

// The square of few samples is itself far from its mean: some samples' gradients are many times as long as others'. It
// may be 1 + kTail / w times as large. Seen with guessed words and 2 to 9 samples: 8 times, and 26 times that of
// another member with 3.
constexpr double kTail = 16;

// Divisible by any number of computers that an account commonly has in a group.
constexpr std::int64_t kVotesOfAccount = 720720;

// Around a center, half of an honest group is drawn in by less than this, in every round.
constexpr float kDrawnUsually = 0.5F;

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

NormBound::NormBound(const wire::GroupInfo& group, const SegmentTable& table, Rank self,
                     const AllReduceOptions& options)
    : table_(table),
      self_(self),
      ratio_squared_max_(options.norm_ratio_max * options.norm_ratio_max),
      law_(options.norm_law),
      members_(group.members.size()) {
  for (const UsualNorm& usual : options.usual) recent_.push_back({usual});
  std::size_t contributors = 0;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    members_[rank].voter = group.members[rank].voter;
    members_[rank].stretch = stretch(wire::contribution_codec(group, rank));
    if (group.members[rank].role != wire::MemberRole::auxiliary) ++contributors;
  }
  few_ = contributors <= kFewMembers;
}

void NormBound::start(SampleCount weight, std::vector<float> norms, std::span<const float> center) {
  const std::size_t parts = bounds() && !center.empty() ? table_.members() : 0;
  for (Rank rank = 0; rank < parts; ++rank) {
    double square = 0;
    for (SegmentIndex segment = table_.first(rank); segment < table_.first(rank + 1); ++segment) {
      square += square_sum(center.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats));
    }
    center_norms_.push_back(told_norm(square));
  }
  take(self_, weight, std::move(norms));
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
  const std::size_t expected = bounds() && weight > 0 ? members_.size() : 0;
  if (norms.size() != expected) {
    return nonsense(fmt::format("it told the norms of {} parts where there are {}", norms.size(), expected));
  }
  take(rank, weight, std::move(norms));
  return {};
}

void NormBound::decide(Member& member) const {
  const auto samples = static_cast<double>(std::max<SampleCount>(member.weight, 1));
  if (!bounds() || member.weight == 0) {
    member.factor = 1;
    return;
  }
  if (centered()) return decide_around_center(member);
  const Member& own = members_[self_];
  double usual = recent_.empty() ? 0 : median_of(recent_, samples);
  if (few_ && own.weight > 0) {
    usual = std::max(usual, own_at(samples));
  }
  const double ratio = ratio_squared_max_ * tail(samples);
  if (member.square <= ratio * usual) {
    member.factor = 1;
  } else if (settled_) {
    if (const auto all = usual_at(samples)) usual = std::max(usual, *all);
    const double most = ratio * usual;
    // Where nothing is usual, nothing is unusual.
    member.factor = usual > 0 && member.square > most ? static_cast<float>(std::sqrt(most / member.square)) : 1.0F;
  }
}

void NormBound::decide_around_center(Member& member) const {
  if (!settled_) return;
  const double most = radius_at(static_cast<double>(member.weight)).value_or(member.square);
  if (member.square <= most) {
    member.factor = 1;
  } else {
    const bool far = member.square > kFarRatio * kFarRatio * most;
    member.factor = far ? 0 : static_cast<float>(std::sqrt(most / member.square));
  }
}

void NormBound::settle() {
  if (settled_) return;
  settled_ = true;
  contributors_ = voices();
  for (Member& member : members_) {
    if (member.begun && !member.factor) decide(member);
  }
}

std::vector<NormBound::Voice> NormBound::voices() const {
  std::map<std::uint32_t, std::int64_t> members_of;  // contributors, by voter
  for (const Member& member : members_) members_of[member.voter] += member.weight > 0 ? 1 : 0;
  std::vector<Voice> voices;
  for (const Member& member : members_) {
    if (member.weight == 0) continue;
    const std::int64_t votes = kVotesOfAccount / (member.voter == 0 ? 1 : members_of[member.voter]);
    voices.push_back({{static_cast<double>(member.weight), member.square}, votes});
  }
  return voices;
}

std::optional<double> NormBound::usual_at(double samples) const {
  const Member& own = members_[self_];
  if (contributors_.size() <= kFewMembers && own.weight > 0) return own_at(samples);
  if (contributors_.empty()) return std::nullopt;
  return median_of(contributors_, samples);
}

std::optional<double> NormBound::radius_at(double samples) const {
  const std::optional<double> usual = usual_at(samples);
  double known = 0;
  if (!recent_.empty()) {
    known = carried_over(recent_.back().norm, samples, law_);
  } else if (members_[self_].weight > 0) {
    known = own_at(samples);
  }
  return usual && known > 0 ? std::min(*usual, ratio_squared_max_ * known) : usual;
}

double NormBound::own_at(double samples) const {
  const Member& own = members_[self_];
  const auto weight = static_cast<double>(own.weight);
  return (centered() ? 1 : tail(weight)) * carried_over({weight, own.square}, samples, law_);
}

double NormBound::median_of(const std::vector<Voice>& voices, double samples) const {
  std::vector<std::pair<double, std::int64_t>> squares;
  std::int64_t all = 0;
  for (const Voice& each : voices) {
    squares.emplace_back(carried_over(each.norm, samples, law_), each.votes);
    all += each.votes;
  }
  std::sort(squares.begin(), squares.end());
  // The smaller of two in the middle, which half of all votes cannot raise; where there are but two, the larger.
  const bool larger = squares.size() <= kFewMembers;
  std::int64_t below = 0;
  for (const auto& [square, votes] : squares) {
    below += votes;
    if (larger ? 2 * below > all : 2 * below >= all) return square;
  }
  return squares.back().first;
}

void NormBound::wait(Waiting contribution) {
  if (waits_.insert({contribution.rank, contribution.segment}).second) waiting_.push_back(std::move(contribution));
}

std::vector<NormBound::Waiting> NormBound::take_waiting() {
  waits_.clear();
  return std::exchange(waiting_, {});
}

double NormBound::allowance(Rank rank, SegmentIndex segment) const {
  if (!bounds()) return std::numeric_limits<double>::infinity();
  const std::uint32_t owner = table_[segment].owner;
  const double norm = members_[rank].norms[owner];
  double most = norm * norm * members_[rank].stretch;
  if (centered()) {
    // A codec's error goes with the vector's length, however close to the center that is.
    const double error = std::sqrt(members_[rank].stretch) - 1;
    const double length = norm + static_cast<double>(members_[rank].weight) * center_norms_[owner];
    most = (norm + error * length) * (norm + error * length);
  }
  const auto received = received_.find({rank, owner});
  return most - (received == received_.end() ? 0 : received->second);
}

void NormBound::count(Rank rank, SegmentIndex segment, double square) {
  received_[{rank, table_[segment].owner}] += square;
}

void NormBound::forget_adopted() {
  std::erase_if(received_, [this](const auto& each) { return each.first.second != self_; });
}

std::optional<UsualNorm> NormBound::usual() const {
  if (!bounds() || !settled_ || contributors_.empty()) return std::nullopt;
  std::vector<Voice> by_samples = contributors_;
  const auto middle = by_samples.begin() + std::ssize(by_samples) / 2;
  std::nth_element(by_samples.begin(), middle, by_samples.end(),
                   [](const Voice& a, const Voice& b) { return a.norm.samples < b.norm.samples; });
  const double samples = middle->norm.samples;
  const auto square = centered() ? radius_at(samples) : usual_at(samples);
  if (!square || *square == 0) return std::nullopt;
  return UsualNorm{samples, *square};
}

std::vector<ScaledMember> NormBound::scaled() const {
  std::vector<ScaledMember> scaled;
  const float usual = centered() ? kDrawnUsually : 1;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    if (members_[rank].factor.value_or(1) < usual) scaled.push_back({rank, *members_[rank].factor});
  }
  return scaled;
}

}  // namespace starling::averaging
