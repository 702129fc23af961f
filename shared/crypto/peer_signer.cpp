#include "shared/crypto/peer_signer.h"

#include <algorithm>
#include <array>
#include <vector>

#include "shared/crypto/digest.h"

namespace starling::crypto {
namespace {

// The beginning of an Ed25519 key's SubjectPublicKeyInfo (RFC 8410); the raw key is the rest.
constexpr std::array<std::uint8_t, 12> kSpkiHead = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                                    0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

class KeySigner final : public PeerSigner {
 public:
  explicit KeySigner(const PrivateKey& key) : key_(key) {
    const std::vector<std::uint8_t> spki = key.public_key().spki();
    VERIFY(spki.size() == kSpkiHead.size() + raw_.size());
    std::copy(spki.begin() + kSpkiHead.size(), spki.end(), raw_.begin());
  }

  [[nodiscard]] PeerSignature sign(std::span<const std::uint8_t> text) const override {
    return {{raw_}, {key_.sign(text)}};
  }
  [[nodiscard]] Status verify(std::span<const std::uint8_t> text, const PeerSignature& signature,
                              const PeerId& signer) const override {
    return verify_peer_signature(text, signature, signer);
  }

 private:
  PrivateKey key_;
  std::array<std::uint8_t, 32> raw_{};
};

}  // namespace

std::shared_ptr<const PeerSigner> make_peer_signer(const PrivateKey& key) { return std::make_shared<KeySigner>(key); }

Status verify_peer_signature(std::span<const std::uint8_t> text, const PeerSignature& signature, const PeerId& signer) {
  if (signature.is_missing()) return Error{ErrorCode::unauthenticated, "it is not signed"};
  std::array<std::uint8_t, kSpkiHead.size() + 32> spki{};
  std::copy(signature.key.bytes.begin(), signature.key.bytes.end(),
            std::copy(kSpkiHead.begin(), kSpkiHead.end(), spki.begin()));
  if (sha256(std::span<const std::uint8_t>(spki)).bytes != signer.bytes) {
    return Error{ErrorCode::permission_denied, "another key signed it"};
  }
  STARLING_ASSIGN(const PublicKey key, PublicKey::from_spki(spki));
  if (!key.verify(text, signature.signature.bytes).ok()) return Error{ErrorCode::corrupt, "its signature is wrong"};
  return {};
}

}  // namespace starling::crypto
