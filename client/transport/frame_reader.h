// Cuts the incoming byte stream into frames. It says where the next bytes should go, so payloads are decrypted straight
// into place. One buffer serves all payloads; it shrinks when they are half as long.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/result.h"
#include "shared/wire/frames.h"

namespace starling::transport {

class FrameReader {
 public:
  enum class Event : std::uint8_t {
    none,    // give it more
    header,  // a header is complete: call begin_payload
    frame,   // a whole frame is here; header() and payload() are valid until the next call of advance
  };

  // Where the next bytes go; never empty.
  [[nodiscard]] std::span<std::uint8_t> target();
  // Bytes of the current frame that are still to come, as far as is known: at least 1.
  [[nodiscard]] std::size_t bytes_missing() const;
  // `bytes` bytes were put into target(). corrupt for a header that breaks the protocol.
  Result<Event> advance(std::size_t bytes);
  // Answers Event::header. An unwanted payload is read past without being kept: payload() is empty. Returns frame at
  // once when there is no payload to wait for.
  Event begin_payload(bool wanted);

  [[nodiscard]] const wire::FrameHeader& header() const { return header_; }
  [[nodiscard]] std::span<const std::uint8_t> payload() const;
  [[nodiscard]] bool wanted() const { return wanted_; }

 private:
  std::array<std::uint8_t, wire::kFrameHeaderBytes> head_{};
  std::size_t head_bytes_ = 0;
  wire::FrameHeader header_;
  bool wanted_ = false;
  std::size_t payload_bytes_ = 0;  // read so far
  std::vector<std::uint8_t> buffer_;
};

}  // namespace starling::transport
