// Authenticated encryption (AEAD, RFC 5116) of a link's records, in one direction. OpenSSL's, for every suite and
// processor; and of AES-GCM, where the processor has instructions for it, that of Intel's library for IPsec, which goes
// from one record to the next at once: OpenSSL's looks its parameters up by name for each. Both seal to the same bytes.
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
  using Nonce = std::array<std::uint8_t, kNonceBytes>;  // another one for each record under a key

  virtual ~Aead() = default;
  // As long as the algorithm says. Before all else; again for another key.
  virtual void set_key(std::span<const std::uint8_t> key) = 0;
  // Into `out`: `plaintext`, then the byte `last`, both sealed, and the tag. The tag vouches for `header`, too.
  virtual void seal(const Nonce& nonce, std::span<const std::uint8_t> header, std::span<const std::uint8_t> plaintext,
                    std::uint8_t last, std::uint8_t* out) = 0;
  // The plaintext of what seal() has made, without its last byte, into `out`, which overlaps nothing; that byte, or
  // nothing where anything was changed: `out` is to be thrown away then.
  virtual std::optional<std::uint8_t> open(const Nonce& nonce, std::span<const std::uint8_t> header,
                                           std::span<const std::uint8_t> sealed, std::uint8_t* out) = 0;
};

std::unique_ptr<Aead> openssl_aead(Aead::Algorithm algorithm, Aead::Direction direction);
// Null where the library, or the processor's instructions, are not there, and for ChaCha20-Poly1305.
std::unique_ptr<Aead> ipsec_aead(Aead::Algorithm algorithm, Aead::Direction direction);

}  // namespace starling::transport
