// Record protection of TLS 1.3 in one direction (RFC 8446, sections 5.2, 5.3, 7.2 and 7.3), straight from and to the
// caller's memory. OpenSSL's own takes every byte through a buffer of its own, which costs a sixth of a link's work;
// the handshake, and with it who is at the other end, stays OpenSSL's. On the wire nothing tells them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/transport/aead.h"
#include "shared/base/result.h"

namespace starling::transport {

enum class RecordType : std::uint8_t { alert = 21, handshake = 22, data = 23 };

class RecordCipher {
 public:
  using Direction = Aead::Direction;
  static constexpr std::size_t kHeaderBytes = 5;
  static constexpr std::size_t kSealBytes = 1 + Aead::kTagBytes;  // beside plaintext: its true type and the tag
  static constexpr std::size_t kPlaintextMax = 16 * 1024;
  static constexpr std::size_t kRecordMax = kHeaderBytes + kPlaintextMax + kSealBytes;

  // `suite`: of TLS 1.3, by its number (RFC 8446, appendix B.4); `secret`: the direction's first traffic secret.
  RecordCipher(std::uint16_t suite, std::span<const std::uint8_t> secret, Direction direction);
  ~RecordCipher();
  RecordCipher(const RecordCipher&) = delete;
  RecordCipher& operator=(const RecordCipher&) = delete;

  // At most kPlaintextMax bytes into `out`, which has kHeaderBytes + kSealBytes more. Returns the record's bytes.
  std::size_t seal(RecordType type, std::span<const std::uint8_t> plaintext, std::span<std::uint8_t> out);

  // How long the record is that begins so; corrupt for what begins none, or too long a one.
  static Result<std::size_t> record_bytes(std::span<const std::uint8_t, kHeaderBytes> header);
  struct Opened {
    RecordType type = RecordType::data;
    std::size_t bytes = 0;  // of plaintext
  };
  // A whole record into `out`, which has room for what it holds (its bytes without header and seal). corrupt when it
  // was changed on its way, came out of turn, or is of no type that belongs here; `out` is to be thrown away then.
  Result<Opened> open(std::span<const std::uint8_t> record, std::span<std::uint8_t> out);

  // The next records are under the secret that follows this one.
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
  std::uint64_t records_ = 0;  // under this key, so far
};

}  // namespace starling::transport
