#include "client/averaging/sums.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/averaging/kernels.h"

namespace starling::averaging {
namespace {

std::span<const std::uint8_t> bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace

Sums::Sums(const SegmentTable& table, Rank self, const RoundVectors& vectors, PartSketches sketches)
    : table_(table),
      self_(self),
      vectors_(vectors),
      set_bytes_((table.members() + 7) / 8),
      own_count_(table.first(self + 1) - table.first(self)),
      awaited_(table.members()),
      given_(table.members()),
      sketches_(std::move(sketches)) {
  sums_.resize(own_count_);
  for (std::size_t i = 0; i < own_count_; ++i) sums_[i].segment = table.first(self) + static_cast<SegmentIndex>(i);
  sets_.resize(own_count_ * set_bytes_);
}

std::size_t Sums::find(SegmentIndex segment) const {
  const SegmentIndex first = table_.first(self_);
  if (segment >= first && segment - first < own_count_) return segment - first;
  const auto found = adopted_.find(segment);
  return found == adopted_.end() ? kNone : found->second;
}

bool Sums::in(std::size_t index, Rank rank) const {
  return (sets_[index * set_bytes_ + rank / 8] >> rank % 8 & 1) != 0;
}

void Sums::put_in(std::size_t index, Rank rank) {
  std::uint8_t& byte = sets_[index * set_bytes_ + rank / 8];
  byte = static_cast<std::uint8_t>(byte | 1 << rank % 8);
}

std::span<float> Sums::output_of(SegmentIndex segment) const {
  return vectors_.output.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
}

std::span<const float> Sums::input_of(SegmentIndex segment) const {
  return vectors_.input.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
}

bool Sums::open(SegmentIndex segment) const {
  const std::size_t index = find(segment);
  return index != kNone && sums_[index].open;
}

bool Sums::contributed(SegmentIndex segment, Rank rank) const {
  const std::size_t index = find(segment);
  VERIFY(index != kNone);
  return in(index, rank);
}

std::span<const float> Sums::center_of(SegmentIndex segment) const {
  if (vectors_.center.empty()) return {};
  return vectors_.center.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
}

void Sums::scale(SegmentIndex segment, SampleCount weight, float factor, std::span<float> values) const {
  for (float& value : values) value *= factor;
  const std::span<const float> center = center_of(segment);
  const float rest = (1 - factor) * static_cast<float>(weight);
  kernels().add_scaled(center.data(), rest, values.data(), center.size());
}

void Sums::put_own(SegmentIndex segment, std::span<float> out) const {
  const std::span<const float> own = input_of(segment);
  std::copy(own.begin(), own.end(), out.begin());
  if (own_factor_ != 1) scale(segment, vectors_.weight, own_factor_, out);
}

Result<double> Sums::add(SegmentIndex segment, const Contribution& contribution) {
  const std::size_t index = find(segment);
  VERIFY(index != kNone && sums_[index].open && !in(index, contribution.rank));
  Sum& sum = sums_[index];
  const std::span<float> out = output_of(segment);
  const std::span<const float> center = center_of(segment);
  const bool measures = sketches_.on() && index < own_count_;
  const bool decodes = contribution.codec != Codec::fp32 || contribution.factor != 1;
  if (decodes || measures) decoded_.resize(out.size());
  const std::span<float> decoded = decoded_;
  STARLING_ASSIGN(double square, square_sum(contribution.codec, contribution.payload, out.size(), decoded));
  std::span<const std::uint8_t> values = contribution.payload;
  if (decodes && contribution.codec == Codec::fp32) STARLING_TRY(decode(Codec::fp32, values, decoded));
  if (decodes) values = bytes_of(decoded);
  if (!center.empty()) square = square_distance(values, center, static_cast<float>(contribution.weight));
  if (square > contribution.square_max) return nonsense("its values are larger than its begin said");
  if (measures) {
    // Bytes of a frame are aligned to nothing, and this copy stays in the cache.
    if (!decodes) std::memcpy(decoded.data(), values.data(), values.size());
    sketches_.add(contribution.rank, table_[segment].begin, decoded);
  }
  if (contribution.factor != 1) scale(segment, contribution.weight, contribution.factor, decoded);
  // The first contribution is added to this member's own values on its way in, which saves a pass over memory for
  // copying them.
  std::span<const float> base = out;
  if (!sum.any && vectors_.weight > 0) {
    if (own_factor_ == 1) {
      base = input_of(segment);
    } else {
      put_own(segment, out);
    }
  }
  if (!sum.any && vectors_.weight == 0) std::fill(out.begin(), out.end(), 0.0F);
  averaging::add(values, base, out);
  sum.any = true;
  sum.weight += contribution.weight;
  sum.awaited_in += awaited_[contribution.rank] ? 1 : 0;
  given_[contribution.rank] += index < own_count_ ? 1 : 0;
  put_in(index, contribution.rank);
  return square;
}

bool Sums::complete(SegmentIndex segment) const {
  const std::size_t index = find(segment);
  return index != kNone && sums_[index].open && sums_[index].awaited_in == awaited_count_;
}

void Sums::await(Rank rank) {
  VERIFY(!awaited_[rank]);
  awaited_[rank] = true;
  ++awaited_count_;
}

void Sums::stop_awaiting(Rank rank) {
  if (!awaited_[rank]) return;
  awaited_[rank] = false;
  --awaited_count_;
  for (std::size_t index = 0; index < sums_.size(); ++index) {
    if (sums_[index].open && in(index, rank)) --sums_[index].awaited_in;
  }
}

std::span<const std::uint8_t> Sums::finish(SegmentIndex segment) {
  const std::size_t index = find(segment);
  VERIFY(index != kNone && sums_[index].open);
  Sum& sum = sums_[index];
  const std::span<float> out = output_of(segment);
  if (vectors_.weight > 0) {
    if (!sum.any) put_own(segment, out);
    sum.weight += vectors_.weight;
    put_in(index, self_);
  } else if (!sum.any) {
    std::fill(out.begin(), out.end(), 0.0F);
  }
  if (sum.weight > 1) divide(out, static_cast<float>(sum.weight));
  sum.open = false;
  return std::span(sets_).subspan(index * set_bytes_, set_bytes_);
}

std::optional<wire::MeasuredParts> Sums::measured(const NormBound& bound) const {
  if (!sketches_.on()) return std::nullopt;
  std::vector<Rank> whole;
  std::vector<float> factors;
  for (Rank rank = 0; rank < table_.members(); ++rank) {
    if (rank == self_ || !gave_all(rank)) continue;
    whole.push_back(rank);
    factors.push_back(bound.factor(rank));
  }
  return sketches_.of(whole, std::move(factors));
}

void Sums::adopt(SegmentIndex segment) {
  VERIFY(find(segment) == kNone);
  adopted_[segment] = sums_.size();
  sums_.push_back({.segment = segment});
  sets_.resize(sets_.size() + set_bytes_);
}

void Sums::drop_adopted() {
  adopted_.clear();
  sums_.resize(own_count_);
  sets_.resize(own_count_ * set_bytes_);
}

std::vector<SegmentIndex> Sums::open_segments() const {
  std::vector<SegmentIndex> open;
  for (const Sum& sum : sums_) {
    if (sum.open) open.push_back(sum.segment);
  }
  return open;
}

}  // namespace starling::averaging
