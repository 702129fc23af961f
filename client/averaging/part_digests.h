// Digests by which members said with their begins what they would contribute (own_parts.h), and the owner of a part
// who holds them to it. Single-threaded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/averaging/round_types.h"
#include "client/averaging/segment_table.h"
#include "shared/base/hash.h"

namespace starling::averaging {

// The digest of a part whose segments' contributions have these digests, in the order of the segments.
Hash128 part_digest(std::span<const Hash128> segments);

// The digests of what others contribute to this member's own part.
class ReceivedDigests {
 public:
  // `table` outlives this object.
  ReceivedDigests(const SegmentTable& table, Rank self);

  // Takes a contribution of the right size to a segment. With the last one of the part, the error says that the part is
  // another than `said`. A segment's first contribution counts; those to others' segments, after a loss, do not.
  [[nodiscard]] Status take(Rank from, SegmentIndex segment, std::span<const std::uint8_t> payload,
                            const Hash128& said);

 private:
  struct Sender {
    std::vector<Hash128> segments;  // by segment of the part; empty before the first one
    std::vector<bool> here;
    std::size_t missing = 0;
  };

  const SegmentTable& table_;
  Rank self_;
  std::vector<Sender> senders_;  // by rank
};

}  // namespace starling::averaging
