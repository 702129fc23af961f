// The order of the frames of a link with several streams, as far as they have one (wire::keeps_order): what is told
// apart by its segment is delivered as it comes, so that a packet that one stream has lost holds up one frame, and not
// the link. Whatever comes before its turn waits in its stream's socket. Pure.
#pragma once

#include <cstdint>

#include "shared/wire/frames.h"

namespace starling::transport {

// Of frames in the order in which they go out, or in which they are delivered.
class FrameCount {
 public:
  explicit FrameCount(std::uint32_t first = 0) : count_(first), free_from_(first) {}
  // That the next frame has, if it is of this type.
  [[nodiscard]] std::uint32_t number(wire::FrameType type) const {
    return wire::keeps_order(type) ? count_ : free_from_;
  }
  void add(wire::FrameType type) {
    ++count_;
    if (wire::keeps_order(type)) free_from_ = count_;
  }

 private:
  std::uint32_t count_;
  std::uint32_t free_from_;  // the count after the last frame that keeps its place
};

class FrameOrder {
 public:
  enum class Turn : std::uint8_t {
    now,    // it may be delivered
    early,  // once others have been
    past,   // its place was taken, or it was sent before what keeps its place
  };

  explicit FrameOrder(FrameCount delivered = FrameCount()) : delivered_(delivered) {}

  [[nodiscard]] Turn turn_of(const wire::FrameHeader& header) const {
    // Numbers go round; what seems farther ahead lies behind.
    constexpr std::uint32_t kFarthest = UINT32_MAX / 2;
    const std::uint32_t ahead = header.number - delivered_.number(header.type);
    if (ahead == 0) return Turn::now;
    return ahead > kFarthest ? Turn::past : Turn::early;
  }
  // A frame whose turn it was has been delivered.
  void advance(wire::FrameType type) { delivered_.add(type); }

 private:
  FrameCount delivered_;
};

}  // namespace starling::transport
