// Authenticated encryption (AEAD, RFC 5116) of a link's records, in one direction. There are two implementations, which
// seal to identical bytes. OpenSSL's covers every suite and processor. Intel's library for IPsec covers AES-GCM where
// the processor has instructions for it, and goes from one record to the next at once; OpenSSL looks its parameters up
// by name for each record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace starling::transport {

class Aead {
 public:
  enum class Algorithm : std::uint8_t { aes_128_gcm, aes_256_gcm, chacha20_poly1305 };
  enum class Direction : std::uint8_t { seals, opens };
  static constexpr std::size_t kNonceBytes = 12;
  static constexpr std::size_t kTagBytes = 16;
  using Nonce = std::array<std::uint8_t, kNonceBytes>;  // never used twice under a key

  virtual ~Aead() = default;
  // The key has the algorithm's length. Call it before all else, and again for another key.
  virtual void set_key(std::span<const std::uint8_t> key) = 0;
  // Writes to `out`: `plaintext` and then the byte `last`, both sealed, and the tag. The tag vouches for `header`, too.
  virtual void seal(const Nonce& nonce, std::span<const std::uint8_t> header, std::span<const std::uint8_t> plaintext,
                    std::uint8_t last, std::uint8_t* out) = 0;
  // Opens bytes that seal() made: writes the plaintext without its last byte to `out`, which overlaps nothing, and
  // returns that byte. Returns nothing where any byte was changed; discard `out` then.
  virtual std::optional<std::uint8_t> open(const Nonce& nonce, std::span<const std::uint8_t> header,
                                           std::span<const std::uint8_t> sealed, std::uint8_t* out) = 0;
};

std::unique_ptr<Aead> openssl_aead(Aead::Algorithm algorithm, Aead::Direction direction);
// Null where the library or the processor's instructions are missing, and for ChaCha20-Poly1305.
std::unique_ptr<Aead> ipsec_aead(Aead::Algorithm algorithm, Aead::Direction direction);

}  // namespace starling::transport
