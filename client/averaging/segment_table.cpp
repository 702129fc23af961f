#include "client/averaging/segment_table.h"

#include <algorithm>
#include <array>

namespace starling::averaging {

SegmentTable::SegmentTable(const wire::GroupInfo& group) : members_(group.members.size()) {
  segments_.reserve(wire::segment_count(group));
  std::int64_t begin = 0;
  for (std::size_t rank = 0; rank < members_; ++rank) {
    first_.push_back(size());
    const std::int64_t end = begin + group.members[rank].part_floats;
    for (; begin < end; begin = std::min(begin + group.segment_floats, end)) {
      const std::int64_t floats = std::min(group.segment_floats, end - begin);
      segments_.push_back({begin, static_cast<std::uint32_t>(floats), static_cast<std::uint32_t>(rank)});
    }
    missing_.push_back(size() - first_.back());
  }
  first_.push_back(size());
  missing_total_ = segments_.size();
  held_.resize((segments_.size() + 7) / 8);
  values_digest_.resize(segments_.size());
  set_of_.resize(segments_.size());
}

void SegmentTable::hold(SegmentIndex segment, std::span<const std::uint8_t> contributors,
                        const Hash128& values_digest) {
  VERIFY(!held(segment));
  held_[segment / 8] = static_cast<std::uint8_t>(held_[segment / 8] | 1 << segment % 8);
  --missing_[segments_[segment].owner];
  --missing_total_;
  values_digest_[segment] = values_digest;
  set_of_[segment] = intern(contributors);
  sets_[set_of_[segment]].floats += segments_[segment].floats;
}

std::uint32_t SegmentTable::intern(std::span<const std::uint8_t> contributors) {
  if (!sets_.empty() && std::ranges::equal(sets_[last_set_].members.bytes(), contributors)) return last_set_;
  const Hash128 digest = hash128(contributors);
  const auto [found, is_new] = set_by_digest_.try_emplace(digest, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back({wire::RankSet::from_bytes(contributors, members_).value(), digest, 0});
  last_set_ = found->second;
  return last_set_;
}

Hash128 SegmentTable::result_digest() const {
  VERIFY(missing_total_ == 0);
  return digest_of(0, size());
}

Hash128 SegmentTable::part_digest(Rank owner) const {
  VERIFY(missing_[owner] == 0);
  return digest_of(first_[owner], first_[owner + 1]);
}

// The digest is a chain; each link hashes the digest so far, the values and the contributors.
Hash128 SegmentTable::digest_of(SegmentIndex begin, SegmentIndex end) const {
  std::array<std::uint8_t, 3 * Hash128::kSize> link{};
  Hash128 digest;
  for (SegmentIndex segment = begin; segment < end; ++segment) {
    auto out = std::copy(digest.bytes.begin(), digest.bytes.end(), link.begin());
    out = std::copy(values_digest_[segment].bytes.begin(), values_digest_[segment].bytes.end(), out);
    const Hash128& set = sets_[set_of_[segment]].digest;
    std::copy(set.bytes.begin(), set.bytes.end(), out);
    digest = hash128(link);
  }
  return digest;
}

}  // namespace starling::averaging
