// A run manifest with the project's signature. The manifest key is not the CA's: it signs only when an operator creates
// a run, and may be kept elsewhere. The chain of trust: a join link pins the CA; the reply to the join, over that CA's
// TLS, brings the manifest public key, which the client keeps from then on. A coordinator that later falls into other
// hands, even with the CA's key, cannot give such a client other work.
//
// The key that clients keep may sign manifests itself, or be a root key that lies on no server. A root certifies the
// key that signs (key_certificate.h), and the envelope carries that certificate. When the signing key is lost, the root
// certifies a new key under a higher number, and clients follow: a client that has seen a number accepts no lower one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/run/run_manifest.h"

namespace starling::manifest {

// JSON escapes can double the manifest's text; the other fields are short.
constexpr std::size_t kEnvelopeBytesMax = 2 * wire::kManifestBytesMax + 8 * 1024;

struct SignedManifest {
  std::string json;                  // the exact bytes that were signed
  crypto::Signature signature;       // over kSignatureContext and json
  Digest key_id;                     // SHA-256 of the signing key's SubjectPublicKeyInfo
  std::string key_certificate = {};  // the root's certificate for that key; empty: the root itself signed

  // The name of this version of the run, used everywhere.
  [[nodiscard]] Digest digest() const;
};

// A key that may sign manifests, with the root's certificate for it; a root needs none.
struct SigningKey {
  SigningKey(crypto::PrivateKey key, std::string certificate = {})  // NOLINT: a root key signs by itself
      : key(std::move(key)), certificate(std::move(certificate)) {}
  crypto::PrivateKey key;
  std::string certificate;  // certificate as in SignedManifest
};

// invalid_argument when the manifest does not pass wire::check_manifest.
Result<SignedManifest> sign_manifest(const wire::RunManifest& manifest, const SigningKey& signer);
// Signs identical bytes by another key.
SignedManifest sign_again(const SignedManifest& envelope, const SigningKey& signer);
// permission_denied unless `root`, or a key that it certified, signed these bytes.
Status verify_signature(const SignedManifest& envelope, const crypto::PublicKey& root);
// Returns the manifest if its signature is right and every value is in range.
Result<wire::RunManifest> verify_manifest(const SignedManifest& envelope, const crypto::PublicKey& root);
// Number under which the root certified the signing key; higher ones are newer. 0: the root itself or an unknown key
// signed.
std::int64_t key_number(const SignedManifest& envelope, const crypto::PublicKey& root);

// {"key_id","manifest","signature"} and perhaps "key_certificate". The manifest is one JSON string, so that its bytes
// arrive unchanged.
std::string encode_envelope(const SignedManifest& envelope);
Result<SignedManifest> decode_envelope(std::string_view json);

}  // namespace starling::manifest
