#include "client/averaging/encoded_results.h"

#include <algorithm>

namespace starling::averaging {
namespace {

// A short vector has fewer slots, so that its results are not all held twice.
constexpr SegmentIndex kSegmentsPerSlotMin = 8;
constexpr SegmentIndex kSlotsMax = 128;

}  // namespace

EncodedResults::EncodedResults(SegmentIndex segments)
    : slots_(std::clamp<SegmentIndex>(segments / kSegmentsPerSlotMin, 1, kSlotsMax)) {}

EncodedResults::Bytes EncodedResults::find(SegmentIndex segment) const {
  const Slot& slot = slots_[slot_of(segment)];
  return slot.segment == segment ? slot.bytes : nullptr;
}

EncodedResults::Bytes EncodedResults::make_room(SegmentIndex segment, std::size_t bytes) {
  Slot& slot = slots_[slot_of(segment)];
  slot.segment = segment;
  if (slot.bytes.use_count() != 1) slot.bytes = std::make_shared<std::vector<std::uint8_t>>();
  slot.bytes->resize(bytes);
  return slot.bytes;
}

}  // namespace starling::averaging
