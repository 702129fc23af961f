#include "shared/crypto/keys.h"

#include <doctest/doctest.h>

#include "shared/crypto/digest.h"

using namespace starling;
using crypto::as_bytes;
using crypto::PrivateKey;
using crypto::PublicKey;

TEST_CASE("a key survives the trip through PEM and signs the same") {
  const PrivateKey key = PrivateKey::generate();
  const auto back = PrivateKey::from_pem(key.to_pem());
  REQUIRE(back.ok());
  CHECK(back->peer_id() == key.peer_id());
  CHECK(back->sign(as_bytes("hello")) == key.sign(as_bytes("hello")));
  const auto other_half = PublicKey::from_pem(key.public_key().to_pem());
  REQUIRE(other_half.ok());
  CHECK(other_half->peer_id() == key.peer_id());
}

TEST_CASE("a public key survives the trip through its SubjectPublicKeyInfo, and nothing longer or shorter does") {
  const PublicKey key = PrivateKey::generate().public_key();
  std::vector<std::uint8_t> der = key.spki();
  CHECK(der.size() == 44);
  const auto back = PublicKey::from_spki(der);
  REQUIRE(back.ok());
  CHECK(back->peer_id() == key.peer_id());
  der.push_back(0);
  for (std::size_t size = 0; size <= der.size(); ++size) {
    CHECK(PublicKey::from_spki(std::span(der).first(size)).ok() == (size == 44));
  }
}

TEST_CASE("a peer id is the digest of the key's public half, and keys differ") {
  const PrivateKey key = PrivateKey::generate();
  CHECK(key.peer_id().bytes == crypto::sha256(key.public_key().spki()).bytes);
  CHECK(key.peer_id() != PrivateKey::generate().peer_id());
}

TEST_CASE("a signature holds for its message and its key only") {
  const PrivateKey key = PrivateKey::generate();
  crypto::Signature signature = key.sign(as_bytes("12 samples"));
  CHECK(key.public_key().verify(as_bytes("12 samples"), signature).ok());
  CHECK(!key.public_key().verify(as_bytes("13 samples"), signature).ok());
  CHECK(!PrivateKey::generate().public_key().verify(as_bytes("12 samples"), signature).ok());
  signature[10] ^= 1;
  CHECK(key.public_key().verify(as_bytes("12 samples"), signature).error().code == ErrorCode::corrupt);
}

TEST_CASE("texts that hold no Ed25519 key are refused with a reason") {
  CHECK(PrivateKey::from_pem("").error().code == ErrorCode::corrupt);
  CHECK(PrivateKey::from_pem("-----BEGIN PRIVATE KEY-----\nnonsense\n").error().code == ErrorCode::corrupt);
  CHECK(PublicKey::from_pem(PrivateKey::generate().to_pem()).error().code == ErrorCode::corrupt);
  CHECK(PublicKey::from_pem(std::string(crypto::kPemBytesMax + 1, 'A')).error().code == ErrorCode::corrupt);
  const char* p256 =
      "-----BEGIN PUBLIC KEY-----\n"
      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt\n"
      "6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==\n"
      "-----END PUBLIC KEY-----\n";
  CHECK(PublicKey::from_pem(p256).error().code == ErrorCode::unsupported);
}
