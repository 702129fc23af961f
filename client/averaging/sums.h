// The sums this member forms: those of its own part from the start, and those of orphans that it adopts. Each sum grows
// inside the output vector as contributions arrive; the set of members in it has one bit for each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "client/averaging/codec.h"
#include "client/averaging/norm_bound.h"
#include "client/averaging/part_sketches.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

class Sums {
 public:
  // One member's contribution to one segment.
  struct Contribution {
    Rank rank = 0;
    SampleCount weight = 0;
    Codec codec = Codec::fp32;
    std::span<const std::uint8_t> payload;
    float factor = 1;       // multiplies the values or, where there is a center, their way from it
    double square_max = 0;  // the greatest sum of the squares of what is multiplied, before that
  };

  // This member's own values take part when their weight is not 0, multiplied by own_factor(). `table` outlives this
  // object. `sketches` measures contributions to the part owned here.
  Sums(const SegmentTable& table, Rank self, const RoundVectors& vectors, PartSketches sketches);

  // The sum is being formed here and accepts contributions.
  [[nodiscard]] bool open(SegmentIndex segment) const;
  [[nodiscard]] bool contributed(SegmentIndex segment, Rank rank) const;
  // Sets the number, 1 unless set, by which own values are multiplied; before anything is added.
  void set_own_factor(float factor) { own_factor_ = factor; }
  // Adds a member's values to an open segment that it has not contributed to; all of them or, with an error, none.
  // Returns the sum of the squares that square_max is about.
  Result<double> add(SegmentIndex segment, const Contribution& contribution);
  // All awaited members have contributed to an open segment.
  [[nodiscard]] bool complete(SegmentIndex segment) const;
  // The member has contributed to every segment of the part owned here.
  [[nodiscard]] bool gave_all(Rank rank) const { return given_[rank] == own_count_; }

  // Sums wait for this member, which has begun and contributes.
  void await(Rank rank);
  [[nodiscard]] bool awaits(Rank rank) const { return awaited_[rank]; }
  [[nodiscard]] std::size_t awaited() const { return awaited_count_; }
  // No sum is waiting for `rank` any more; what it contributed stays.
  void stop_awaiting(Rank rank);

  // Puts this member's own values in (unless its weight is 0), divides by the weights, closes the segment. Returns the
  // bytes of the contributor set, valid until the next call that is not const.
  std::span<const std::uint8_t> finish(SegmentIndex segment);
  // Samples in a segment that is closed.
  [[nodiscard]] SampleCount weight(SegmentIndex segment) const { return sums_[find(segment)].weight; }
  // The contributions of all others who gave_all(), as they were measured; nothing where none are.
  [[nodiscard]] std::optional<wire::MeasuredParts> measured(const NormBound& bound) const;

  void adopt(SegmentIndex segment);
  // Forgets adopted sums that are not finished: the lost set grew.
  void drop_adopted();
  // Open segments, own part first.
  [[nodiscard]] std::vector<SegmentIndex> open_segments() const;

 private:
  struct Sum {
    SegmentIndex segment = 0;
    std::uint32_t awaited_in = 0;  // awaited members that have contributed
    SampleCount weight = 0;
    bool open = true;
    bool any = false;  // another member's values are in
  };
  static constexpr std::size_t kNone = SIZE_MAX;
  // Index in sums_, or kNone.
  [[nodiscard]] std::size_t find(SegmentIndex segment) const;
  [[nodiscard]] bool in(std::size_t index, Rank rank) const;
  void put_in(std::size_t index, Rank rank);
  [[nodiscard]] std::span<float> output_of(SegmentIndex segment) const;
  [[nodiscard]] std::span<const float> input_of(SegmentIndex segment) const;
  [[nodiscard]] std::span<const float> center_of(SegmentIndex segment) const;
  // Multiplies values of `weight` samples by `factor`; or, where there is a center, their way from it.
  void scale(SegmentIndex segment, SampleCount weight, float factor, std::span<float> values) const;
  // out = own values, scaled by the own factor
  void put_own(SegmentIndex segment, std::span<float> out) const;

  const SegmentTable& table_;
  Rank self_;
  RoundVectors vectors_;
  std::size_t set_bytes_;
  std::vector<Sum> sums_;  // segments of the own part in order, then adopted ones
  std::size_t own_count_;
  std::vector<std::uint8_t> sets_;                         // contributor sets of sums_, set_bytes_ each
  std::unordered_map<SegmentIndex, std::size_t> adopted_;  // segment to index in sums_
  std::vector<bool> awaited_;                              // by rank: live, begun, contributes, not left behind
  std::size_t awaited_count_ = 0;
  std::vector<std::size_t> given_;  // by rank: segments of the part owned here that it has contributed to
  float own_factor_ = 1;
  std::vector<float> decoded_;  // the values of one contribution
  PartSketches sketches_;
};

}  // namespace starling::averaging
