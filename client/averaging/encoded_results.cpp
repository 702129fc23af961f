#include "client/averaging/encoded_results.h"

namespace starling::averaging {

EncodedResults::Bytes EncodedResults::find(SegmentIndex segment) const {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[slot_of(segment)];
  return slot.segment == segment ? slot.bytes : nullptr;
}

EncodedResults::Bytes EncodedResults::make_room(SegmentIndex segment, std::size_t bytes) {
  slots_.resize(kSlots);
  Slot& slot = slots_[slot_of(segment)];
  slot.segment = segment;
  if (slot.bytes.use_count() != 1) slot.bytes = std::make_shared<std::vector<std::uint8_t>>();
  slot.bytes->resize(bytes);
  return slot.bytes;
}

}  // namespace starling::averaging
