// The vector of one round, cut into parts and segments, and the set of segments whose final values this member holds.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "client/averaging/round_types.h"
#include "shared/base/hash.h"
#include "shared/protocol/group_info.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

using SegmentIndex = std::uint32_t;

// A run of coordinates that travels and is averaged as one.
struct Segment {
  std::int64_t begin = 0;  // first coordinate
  std::uint32_t floats = 0;
  std::uint32_t owner = 0;  // planned owner: the rank whose part it is cut from
};

// The members in a result. Most segments of a round have equal sets, so each different set is kept once.
struct ContributorSet {
  wire::RankSet members;
  Hash128 digest;
  std::int64_t floats = 0;  // coordinates held with exactly this set
};

class SegmentTable {
 public:
  explicit SegmentTable(const wire::GroupInfo& group);

  [[nodiscard]] std::size_t members() const { return members_; }
  [[nodiscard]] SegmentIndex size() const { return static_cast<SegmentIndex>(segments_.size()); }
  [[nodiscard]] const Segment& operator[](SegmentIndex segment) const { return segments_[segment]; }
  // The segments of a member's part: first(rank) up to, not including, first(rank + 1).
  [[nodiscard]] SegmentIndex first(Rank rank) const { return first_[rank]; }

  // `contributors`: the set's bytes, of the right length. `values_digest`: hash of the averaged floats.
  void hold(SegmentIndex segment, std::span<const std::uint8_t> contributors, const Hash128& values_digest);
  [[nodiscard]] bool held(SegmentIndex segment) const { return (held_[segment / 8] >> segment % 8 & 1) != 0; }
  [[nodiscard]] const std::vector<std::uint8_t>& held_bits() const { return held_; }
  // Number of segments not held yet: of a member's part, and of all parts.
  [[nodiscard]] std::size_t missing(Rank owner) const { return missing_[owner]; }
  [[nodiscard]] std::size_t missing() const { return missing_total_; }

  // Hash of the values of a held segment.
  [[nodiscard]] const Hash128& values_digest(SegmentIndex segment) const { return values_digest_[segment]; }
  [[nodiscard]] const wire::RankSet& contributors(SegmentIndex segment) const {
    return sets_[set_of_[segment]].members;
  }
  [[nodiscard]] const std::vector<ContributorSet>& sets() const { return sets_; }
  // Digest of all values and contributor sets, once every segment is held; and of those of a member's part.
  [[nodiscard]] Hash128 result_digest() const;
  [[nodiscard]] Hash128 part_digest(Rank owner) const;

 private:
  [[nodiscard]] Hash128 digest_of(SegmentIndex begin, SegmentIndex end) const;
  std::uint32_t intern(std::span<const std::uint8_t> contributors);

  std::size_t members_;
  std::vector<Segment> segments_;
  std::vector<SegmentIndex> first_;  // by rank, one more at the end
  std::vector<std::uint8_t> held_;   // one bit a segment
  std::vector<std::size_t> missing_;
  std::size_t missing_total_ = 0;
  std::vector<Hash128> values_digest_;  // by segment
  std::vector<std::uint32_t> set_of_;   // by segment: index in sets_
  std::vector<ContributorSet> sets_;
  std::map<Hash128, std::uint32_t> set_by_digest_;
  std::uint32_t last_set_ = 0;
};

}  // namespace starling::averaging
