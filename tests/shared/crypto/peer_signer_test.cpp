#include "shared/crypto/peer_signer.h"

#include <doctest/doctest.h>

#include "shared/crypto/digest.h"

using namespace starling;
using namespace starling::crypto;

TEST_CASE("a peer's signature proves itself against the peer's id alone") {
  const PrivateKey key = PrivateKey::generate();
  const PrivateKey other = PrivateKey::generate();
  const auto signer = make_peer_signer(key);
  const auto text = as_bytes("a begin");
  const PeerSignature signature = signer->sign(text);
  CHECK(make_peer_signer(other)->verify(text, signature, key.peer_id()).ok());
  CHECK(verify_peer_signature(text, signature, other.peer_id()).error().code == ErrorCode::permission_denied);
  CHECK(verify_peer_signature(as_bytes("another"), signature, key.peer_id()).error().code == ErrorCode::corrupt);
  CHECK(verify_peer_signature(text, {}, key.peer_id()).error().code == ErrorCode::unauthenticated);
  PeerSignature damaged = signature;
  damaged.signature.bytes[5] ^= 1;
  CHECK(verify_peer_signature(text, damaged, key.peer_id()).error().code == ErrorCode::corrupt);
  damaged = signature;
  damaged.key.bytes[5] ^= 1;
  CHECK(verify_peer_signature(text, damaged, key.peer_id()).error().code == ErrorCode::permission_denied);
}
