// Signatures for tests and simulations, which are quick and need no keys: a hash of the text and the signer's id, which
// stands in for the key. Anybody could make them.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "shared/base/hash.h"
#include "shared/crypto/peer_signer.h"

namespace starling::testing {

class PlainSigner final : public crypto::PeerSigner {
 public:
  explicit PlainSigner(const PeerId& self) : self_(self) {}

  [[nodiscard]] PeerSignature sign(std::span<const std::uint8_t> text) const override { return made(text, self_); }
  [[nodiscard]] Status verify(std::span<const std::uint8_t> text, const PeerSignature& signature,
                              const PeerId& signer) const override {
    if (signature.is_missing()) return Error{ErrorCode::unauthenticated, "it is not signed"};
    if (signature.key.bytes != signer.bytes) return Error{ErrorCode::permission_denied, "another key signed it"};
    if (signature != made(text, signer)) return Error{ErrorCode::corrupt, "its signature is wrong"};
    return {};
  }

 private:
  static PeerSignature made(std::span<const std::uint8_t> text, const PeerId& signer) {
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    bytes.insert(bytes.end(), signer.bytes.begin(), signer.bytes.end());
    const Hash128 hash = hash128(bytes);
    PeerSignature made;
    made.key.bytes = signer.bytes;
    std::copy(hash.bytes.begin(), hash.bytes.end(), made.signature.bytes.begin());
    made.signature.bytes.back() = 1;  // is_missing() is never true
    return made;
  }

  PeerId self_;
};

inline std::shared_ptr<const crypto::PeerSigner> plain_signer(const PeerId& self) {
  return std::make_shared<PlainSigner>(self);
}

}  // namespace starling::testing
