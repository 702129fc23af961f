// The most recent results in encoded form, for codecs that lose precision. Most members take a segment within a moment
// of each other, so it need not be encoded for each of them. For a member that comes later the result is encoded again,
// from the output.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/averaging/segment_table.h"

namespace starling::averaging {

class EncodedResults {
 public:
  using Bytes = std::shared_ptr<std::vector<std::uint8_t>>;

  // `segments`: the number of segments of the vector.
  explicit EncodedResults(SegmentIndex segments);

  // Null when the segment is not kept (any more).
  [[nodiscard]] Bytes find(SegmentIndex segment) const;
  // Room for `bytes` bytes, to be filled, in place of an older result; in that result's memory if nobody else holds it.
  Bytes make_room(SegmentIndex segment, std::size_t bytes);

 private:
  struct Slot {
    SegmentIndex segment = 0;
    Bytes bytes;
  };
  [[nodiscard]] std::size_t slot_of(SegmentIndex segment) const { return segment % slots_.size(); }

  std::vector<Slot> slots_;
};

}  // namespace starling::averaging
