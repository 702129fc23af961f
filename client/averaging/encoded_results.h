// Results of late, as they go out where their codec loses precision: most members take a segment within a moment of
// each other, so that it need not be encoded for each of them. Whoever comes later has it encoded again, from the
// output.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/averaging/segment_table.h"

namespace starling::averaging {

class EncodedResults {
 public:
  using Bytes = std::shared_ptr<std::vector<std::uint8_t>>;

  // Of a vector of so many segments.
  explicit EncodedResults(SegmentIndex segments);

  // Null when it is not among them (any more).
  [[nodiscard]] Bytes find(SegmentIndex segment) const;
  // So many bytes, to be filled, in the place of others, and where nobody has these, in their memory.
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
