// A run manifest with the project's signature. The manifest key is not the CA's: it signs only when an
// operator creates a run and can live elsewhere. Who trusts what: a join link pins the CA; the reply to
// the join, over that CA's TLS, brings the manifest public key, which the client keeps from then on. Later a
// coordinator in other hands, even with the CA's key, cannot give such a client other work.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/wire/run_manifest.h"

namespace starling::manifest {

// JSON escapes can double the manifest's text, and little is added.
constexpr std::size_t kEnvelopeBytesMax = 2 * wire::kManifestBytesMax + 1024;

struct SignedManifest {
  std::string json;             // the very bytes that were signed
  crypto::Signature signature;  // over kSignatureContext and json
  Digest key_id;                // SHA-256 of the signing key's SubjectPublicKeyInfo

  // Names this version of the run everywhere.
  [[nodiscard]] Digest digest() const;
};

// invalid_argument when the manifest does not pass wire::check_manifest.
Result<SignedManifest> sign_manifest(const wire::RunManifest& manifest, const crypto::PrivateKey& key);
// The manifest, once the signature is found to be `key`'s and every value is in range.
Result<wire::RunManifest> verify_manifest(const SignedManifest& envelope, const crypto::PublicKey& key);

// {"key_id","manifest","signature"}: the manifest as one JSON string, so that its bytes arrive unchanged.
std::string encode_envelope(const SignedManifest& envelope);
Result<SignedManifest> decode_envelope(std::string_view json);

}  // namespace starling::manifest
