// A run manifest with the project's signature. The manifest key is not the CA's: it signs only when an
// operator creates a run and can live elsewhere. Who trusts what: a join link pins the CA; the reply to
// the join, over that CA's TLS, brings the manifest public key, which the client keeps from then on. Later a
// coordinator in other hands, even with the CA's key, cannot give such a client other work.
//
// The key that clients keep may sign manifests itself, or be a root key that lies on no server: then it has certified
// the key that does (key_certificate.h), and the envelope brings that word along. A root certifies a new key when the
// old one is lost, under a higher number, and clients follow: none that has seen that number goes back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/wire/run_manifest.h"

namespace starling::manifest {

// JSON escapes can double the manifest's text, and little is added.
constexpr std::size_t kEnvelopeBytesMax = 2 * wire::kManifestBytesMax + 8 * 1024;

struct SignedManifest {
  std::string json;                  // the very bytes that were signed
  crypto::Signature signature;       // over kSignatureContext and json
  Digest key_id;                     // SHA-256 of the signing key's SubjectPublicKeyInfo
  std::string key_certificate = {};  // the root's word for that key; empty: it is the root itself

  // Names this version of the run everywhere.
  [[nodiscard]] Digest digest() const;
};

struct SigningKey {
  SigningKey(crypto::PrivateKey key, std::string certificate = {})  // NOLINT: a root key signs by itself
      : key(std::move(key)), certificate(std::move(certificate)) {}
  crypto::PrivateKey key;
  std::string certificate;  // as in SignedManifest
};

// invalid_argument when the manifest does not pass wire::check_manifest.
Result<SignedManifest> sign_manifest(const wire::RunManifest& manifest, const SigningKey& signer);
// The same bytes, signed by another key.
SignedManifest sign_again(const SignedManifest& envelope, const SigningKey& signer);
// The manifest, once the signature is found to be `root`'s, or that of a key it has certified, and every value is in
// range.
Result<wire::RunManifest> verify_manifest(const SignedManifest& envelope, const crypto::PublicKey& root);
// Of the key that has signed, as the root certified it: higher ones are newer. 0: the root itself, or a stranger.
std::int64_t key_number(const SignedManifest& envelope, const crypto::PublicKey& root);

// {"key_id","manifest","signature"} and perhaps "key_certificate": the manifest as one JSON string, so that its bytes
// arrive unchanged.
std::string encode_envelope(const SignedManifest& envelope);
Result<SignedManifest> decode_envelope(std::string_view json);

}  // namespace starling::manifest
