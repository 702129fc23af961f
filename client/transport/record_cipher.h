// Record protection of TLS 1.3 in one direction (RFC 8446, sections 5.2, 5.3, 7.2 and 7.3), straight from and to the
// caller's memory. OpenSSL would take every byte through a buffer of its own, which costs a sixth of a link's work. The
// handshake, and with it the proof of the other end's identity, stays OpenSSL's. On the wire the two cannot be told
// apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/transport/aead.h"
#include "shared/base/result.h"

namespace starling::transport {

// Content types of TLS records, with their numbers (RFC 8446, appendix B.1).
enum class RecordType : std::uint8_t { alert = 21, handshake = 22, data = 23 };

class RecordCipher {
 public:
  using Direction = Aead::Direction;
  static constexpr std::size_t kHeaderBytes = 5;
  static constexpr std::size_t kSealBytes = 1 + Aead::kTagBytes;  // added to the plaintext: its true type and the tag
  static constexpr std::size_t kPlaintextMax = 16 * 1024;
  static constexpr std::size_t kRecordMax = kHeaderBytes + kPlaintextMax + kSealBytes;

  // `suite`: a TLS 1.3 suite, by its number (RFC 8446, appendix B.4). `secret`: the direction's first traffic secret.
  RecordCipher(std::uint16_t suite, std::span<const std::uint8_t> secret, Direction direction);
  ~RecordCipher();
  RecordCipher(const RecordCipher&) = delete;
  RecordCipher& operator=(const RecordCipher&) = delete;

  // Seals at most kPlaintextMax bytes into `out`, which has kHeaderBytes + kSealBytes more. Returns the record's bytes.
  std::size_t seal(RecordType type, std::span<const std::uint8_t> plaintext, std::span<std::uint8_t> out);

  // Length of the record with this header; corrupt for anything but a record's header, and for a record that is too
  // long.
  static Result<std::size_t> record_bytes(std::span<const std::uint8_t, kHeaderBytes> header);
  struct Opened {
    RecordType type = RecordType::data;
    std::size_t bytes = 0;  // bytes of plaintext
  };
  // Opens a whole record into `out`, which has room for its content (its bytes without header and seal). corrupt when
  // it was changed on its way, came out of turn, or has a type that does not belong here; discard `out` then.
  Result<Opened> open(std::span<const std::uint8_t> record, std::span<std::uint8_t> out);

  // The next records use the secret that follows this one.
  void update_key();

 private:
  void set_key();
  [[nodiscard]] std::vector<std::uint8_t> expand(const char* label, std::size_t bytes) const;
  Aead::Nonce next_nonce();

  struct Suite;
  const Suite& suite_;
  const std::unique_ptr<Aead> aead_;
  std::vector<std::uint8_t> secret_;
  std::vector<std::uint8_t> iv_;
  std::uint64_t records_ = 0;  // number of records under this key, so far
};

}  // namespace starling::transport
