// The order of frames on a link with several streams, for types that have one (wire::keeps_order). Frames told apart by
// their segment are delivered as they arrive, so a packet lost on one stream holds up one frame and not the link. A
// frame that comes before its turn waits in its stream's socket. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "shared/wire/frames.h"

namespace starling::transport {

// Counts frames in the order in which they go out, or in which they are delivered.
class FrameCount {
 public:
  explicit FrameCount(std::uint32_t first = 0) : count_(first), free_from_(first) {}
  // The number of the next frame, if it is of this type.
  [[nodiscard]] std::uint32_t number(wire::FrameType type) const {
    return wire::keeps_order(type) ? count_ : free_from_;
  }
  // Gives a frame that goes out its number.
  void stamp(std::span<std::uint8_t, wire::kFrameHeaderBytes> header) {
    const wire::FrameType type = wire::type_of(header);
    wire::set_number(number(type), header);
    add(type);
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
    early,  // its turn comes after other frames were delivered
    past,   // its place was taken, or it was sent before a frame that keeps its place
  };

  explicit FrameOrder(FrameCount delivered = FrameCount()) : delivered_(delivered) {}

  [[nodiscard]] Turn turn_of(const wire::FrameHeader& header) const {
    // Numbers wrap around: one that seems farther ahead than this lies behind.
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
