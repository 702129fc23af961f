#include "client/averaging/own_parts.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "client/averaging/part_digests.h"

namespace starling::averaging {
namespace {

class OwnSegments {
 public:
  OwnSegments(const SegmentTable& table, const RoundVectors& own) : table_(table), own_(own) {}

  [[nodiscard]] std::span<const float> values(SegmentIndex segment) const { return cut(own_.input, segment); }

  [[nodiscard]] double square(SegmentIndex segment) const {
    if (own_.center.empty()) return square_sum(values(segment));
    return square_distance(values(segment), cut(own_.center, segment), static_cast<float>(own_.weight));
  }

  [[nodiscard]] Hash128 digest(SegmentIndex segment, Codec codec) {
    const std::span<const float> from = values(segment);
    if (codec == Codec::fp32) return hash128({reinterpret_cast<const std::uint8_t*>(from.data()), from.size_bytes()});
    encoded_.resize(encoded_bytes(codec, from.size()));
    encode(codec, from, encoded_);
    return hash128(encoded_);
  }

 private:
  [[nodiscard]] std::span<const float> cut(std::span<const float> vector, SegmentIndex segment) const {
    return vector.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
  }

  const SegmentTable& table_;
  const RoundVectors& own_;
  std::vector<std::uint8_t> encoded_;
};

}  // namespace

float told_norm(double square) {
  // Values that are not finite are refused when they come.
  const auto norm = std::isfinite(square) ? static_cast<float>(std::sqrt(square)) : 0.0F;
  // Rounded up: the values must not be longer than what is said of them.
  return square > 0 ? std::nextafter(norm, std::numeric_limits<float>::infinity()) : norm;
}

OwnParts own_parts(const SegmentTable& table, Rank self, const RoundVectors& own, Codec codec, bool measures) {
  OwnParts parts;
  if (own.weight == 0) return parts;
  OwnSegments segments(table, own);
  std::vector<Hash128> digests;
  for (Rank rank = 0; rank < table.members(); ++rank) {
    double square = 0;
    digests.clear();
    for (SegmentIndex segment = table.first(rank); segment < table.first(rank + 1); ++segment) {
      if (measures) square += segments.square(segment);
      if (rank == self) parts.summable = parts.summable && summable(segments.values(segment));
      digests.push_back(segments.digest(segment, rank == self ? Codec::fp32 : codec));
    }
    if (measures) parts.norms.push_back(told_norm(square));
    parts.digests.push_back(part_digest(digests));
  }
  return parts;
}

}  // namespace starling::averaging
