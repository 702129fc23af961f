// Puts the frames of a link with several streams in order again, by their numbers, without keeping much. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "shared/base/result.h"
#include "shared/wire/frames.h"

namespace starling::transport {

class FrameOrder {
 public:
  // Payload kept at most, one frame apart: most of what comes while a stream makes up for a lost packet. The rest waits
  // in the sockets, which hold it anyway where a link has one stream.
  static constexpr std::size_t kHeldBytesMax = 256u << 10;
  static constexpr std::size_t kHeldFramesMax = 4096;

  struct Held {
    wire::FrameHeader header;
    bool wanted = false;
    std::vector<std::uint8_t> payload;  // and maybe more bytes behind it
  };
  enum class Turn : std::uint8_t {
    now,    // it is the next
    early,  // hold() it when it is here
    wait,   // there is no room to hold it: ask again when others have been delivered
  };

  explicit FrameOrder(std::uint32_t first = 0) : next_(first) {}

  // Of a frame that begins. corrupt when its number was there before.
  [[nodiscard]] Result<Turn> turn_of(const wire::FrameHeader& header) const;
  [[nodiscard]] bool is_next(const wire::FrameHeader& header) const { return header.number == next_; }
  [[nodiscard]] bool holds_frames() const { return !held_.empty(); }
  // The next frame has been delivered.
  void advance() { ++next_; }
  // corrupt when that number is held already.
  Status hold(Held frame);
  // The next frame, if it is held.
  std::optional<Held> take_next();

 private:
  std::uint32_t next_;
  std::unordered_map<std::uint32_t, Held> held_;
  std::size_t held_bytes_ = 0;
};

}  // namespace starling::transport
