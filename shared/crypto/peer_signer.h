// Signatures of peers under what they say to each other, so that it can be passed on, and shown to others who were not
// there. Every kind of text begins with words of its own, so that no signature is valid for two kinds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "shared/base/ids.h"
#include "shared/base/peer_signature.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"

namespace starling::crypto {

// Signs for one peer, and checks what others have signed. Safe from several threads.
class PeerSigner {
 public:
  virtual ~PeerSigner() = default;
  [[nodiscard]] virtual PeerSignature sign(std::span<const std::uint8_t> text) const = 0;
  // unauthenticated when it is missing; permission_denied when another peer signed; corrupt when it does not fit the
  // text.
  [[nodiscard]] virtual Status verify(std::span<const std::uint8_t> text, const PeerSignature& signature,
                                      const PeerId& signer) const = 0;
};

// Signs with the key whose holder the peer is.
std::shared_ptr<const PeerSigner> make_peer_signer(const PrivateKey& key);

// PeerSigner::verify for signatures of these keys, by those who sign nothing.
Status verify_peer_signature(std::span<const std::uint8_t> text, const PeerSignature& signature, const PeerId& signer);

}  // namespace starling::crypto
