// Follows the TLS records of an incoming byte stream, to say how much must come before more can be read: a record gives
// nothing until the whole of it is here. With that, a socket need not wake its reader for every packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace starling::transport {

class RecordMeter {
 public:
  // These came in next.
  void note(std::span<const std::uint8_t> bytes);
  // At least so many bytes must still come before `plaintext` more bytes can have been read. Never more than that, or
  // a reader would wait for ever: whatever else a stream may hold (alerts, new keys, padding) makes it longer. At
  // least 1.
  [[nodiscard]] std::size_t bytes_before(std::size_t plaintext) const;

 private:
  static constexpr std::size_t kHeaderBytes = 5;  // type, version, length (RFC 8446, section 5.1)
  std::size_t header_bytes_ = 0;                  // of the record under way; kHeaderBytes: its body is awaited
  std::size_t body_bytes_ = 0;
  std::size_t body_left_ = 0;
};

}  // namespace starling::transport
