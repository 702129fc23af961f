// A peer's signature that needs no certificate: the key travels with it, and the SHA-256 of the key is the peer's id.
#pragma once

#include "shared/base/ids.h"

namespace starling {

// The raw bytes of an Ed25519 public key, and of a signature.
struct KeyTag;
struct SignatureTag;
using KeyBytes = FixedId<KeyTag, 32>;
using SignatureBytes = FixedId<SignatureTag, 64>;

struct PeerSignature {
  KeyBytes key;
  SignatureBytes signature;
  friend bool operator==(const PeerSignature&, const PeerSignature&) = default;
  // Both are zeros.
  [[nodiscard]] bool is_missing() const { return *this == PeerSignature{}; }
};

}  // namespace starling
