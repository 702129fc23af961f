#include "shared/manifest/signed_manifest.h"

#include <doctest/doctest.h>

#include "shared/crypto/digest.h"
#include "shared/manifest/key_certificate.h"

using namespace starling;
using namespace starling::manifest;
using crypto::PrivateKey;

namespace {

wire::RunManifest good_manifest() {
  wire::RunManifest manifest;
  manifest.run_id = "fortunes-1";
  manifest.title = "Quotes \"and\" \\ Fortünes";
  manifest.data.train.sha256.bytes.fill(1);
  manifest.data.train.bytes = 2'000'000;
  manifest.data.validation.sha256.bytes.fill(2);
  manifest.data.validation.bytes = 100'000;
  manifest.flops_per_sample = 1e9;
  return manifest;
}

}  // namespace

TEST_CASE("a signed manifest survives the trip through its envelope and is believed") {
  const PrivateKey key = PrivateKey::generate();
  const auto signed_manifest = sign_manifest(good_manifest(), key);
  REQUIRE(signed_manifest.ok());
  const auto arrived = decode_envelope(encode_envelope(*signed_manifest));
  REQUIRE(arrived.ok());
  CHECK(arrived->json == signed_manifest->json);
  CHECK(arrived->digest() == signed_manifest->digest());
  const auto manifest = verify_manifest(*arrived, key.public_key());
  REQUIRE(manifest.ok());
  CHECK(wire::encode_manifest(*manifest) == wire::encode_manifest(good_manifest()));
}

TEST_CASE("a manifest that was changed after signing is refused") {
  const PrivateKey key = PrivateKey::generate();
  SignedManifest envelope = *sign_manifest(good_manifest(), key);
  wire::RunManifest other = good_manifest();
  other.seed = 2;
  envelope.json = wire::encode_manifest(other);
  CHECK(verify_manifest(envelope, key.public_key()).error().code == ErrorCode::corrupt);
}

TEST_CASE("every single changed bit of a signature is noticed") {
  const PrivateKey key = PrivateKey::generate();
  const SignedManifest envelope = *sign_manifest(good_manifest(), key);
  for (std::size_t bit = 0; bit < 8 * envelope.signature.size(); ++bit) {
    SignedManifest changed = envelope;
    changed.signature[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    CHECK(!verify_manifest(changed, key.public_key()).ok());
  }
}

TEST_CASE("a manifest signed with another key is refused, whatever key id it claims") {
  const PrivateKey key = PrivateKey::generate();
  SignedManifest envelope = *sign_manifest(good_manifest(), PrivateKey::generate());
  CHECK(verify_manifest(envelope, key.public_key()).error().code == ErrorCode::permission_denied);
  envelope.key_id = sign_manifest(good_manifest(), key)->key_id;
  CHECK(verify_manifest(envelope, key.public_key()).error().code == ErrorCode::corrupt);
}

TEST_CASE("a signature over the bare text does not make a manifest") {
  const PrivateKey key = PrivateKey::generate();
  SignedManifest envelope = *sign_manifest(good_manifest(), key);
  envelope.signature = key.sign(crypto::as_bytes(envelope.json));
  CHECK(!verify_manifest(envelope, key.public_key()).ok());
}

TEST_CASE("a manifest out of range is not signed") {
  wire::RunManifest manifest = good_manifest();
  manifest.model.layers = 0;
  CHECK(sign_manifest(manifest, PrivateKey::generate()).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("envelopes that are cut, too long or not envelopes are refused") {
  const std::string good = encode_envelope(*sign_manifest(good_manifest(), PrivateKey::generate()));
  for (std::size_t size = 0; size < good.size(); ++size) CHECK(!decode_envelope(good.substr(0, size)).ok());
  CHECK(decode_envelope(std::string(kEnvelopeBytesMax + 1, ' ')).error().code == ErrorCode::resource_exhausted);
  CHECK(!decode_envelope(R"({"key_id":"00","manifest":"{}","signature":""})").ok());
  CHECK(!decode_envelope("[]").ok());
}

TEST_CASE("a key that the root has certified signs as the root would, and the bytes stay the same") {
  const PrivateKey root = PrivateKey::generate();
  const PrivateKey key = PrivateKey::generate();
  const SigningKey signer(key, certify_key({7, key.public_key()}, root));
  const SignedManifest by_root = *sign_manifest(good_manifest(), root);
  const auto arrived = decode_envelope(encode_envelope(sign_again(by_root, signer)));
  REQUIRE(arrived.ok());
  CHECK(arrived->digest() == by_root.digest());
  CHECK(verify_manifest(*arrived, root.public_key()).ok());
  CHECK(key_number(*arrived, root.public_key()) == 7);
  CHECK(key_number(by_root, root.public_key()) == 0);
  // The key by itself is nobody, and the certificate of another root says nothing.
  CHECK(verify_manifest(*sign_manifest(good_manifest(), key), root.public_key()).error().code ==
        ErrorCode::permission_denied);
  const PrivateKey stranger = PrivateKey::generate();
  const SignedManifest theirs = *sign_manifest(good_manifest(), {key, certify_key({8, key.public_key()}, stranger)});
  CHECK(verify_manifest(theirs, root.public_key()).error().code == ErrorCode::permission_denied);
  CHECK(key_number(theirs, root.public_key()) == 0);
}

TEST_CASE("a key's certificate is for that key alone, and notices every changed letter") {
  const PrivateKey root = PrivateKey::generate();
  const PrivateKey key = PrivateKey::generate();
  const std::string certificate = certify_key({3, key.public_key()}, root);
  REQUIRE(verify_key(certificate, root.public_key()).ok());
  CHECK(verify_key(certificate, root.public_key())->number == 3);
  // Lent to another key, it fits no signature.
  const SignedManifest lent = *sign_manifest(good_manifest(), {PrivateKey::generate(), certificate});
  CHECK_FALSE(verify_manifest(lent, root.public_key()).ok());
  for (std::size_t i = 0; i < certificate.size(); ++i) {
    std::string changed = certificate;
    changed[i] = changed[i] == '0' ? '1' : '0';
    CHECK_FALSE(verify_key(changed, root.public_key()).ok());
  }
  CHECK_FALSE(verify_key("", root.public_key()).ok());
  // A manifest's signature is no key's certificate, and the other way round.
  const SignedManifest manifest = *sign_manifest(good_manifest(), root);
  CHECK_FALSE(verify_key(encode_envelope(manifest), root.public_key()).ok());
}
