#include "shared/manifest/signed_manifest.h"

#include "shared/crypto/digest.h"
#include "shared/manifest/signed_text.h"

namespace starling::manifest {
namespace {

constexpr TextKind kKind{.name = "signed manifest",
                         .context = "starling run manifest v1\n",
                         .field = "manifest",
                         .bytes_max = wire::kManifestBytesMax};

SignedText text_of(const SignedManifest& envelope) { return {envelope.json, envelope.signature, envelope.key_id}; }

}  // namespace

Digest SignedManifest::digest() const { return crypto::sha256(json); }

Result<SignedManifest> sign_manifest(const wire::RunManifest& manifest, const crypto::PrivateKey& key) {
  STARLING_TRY(wire::check_manifest(manifest));
  SignedText text = sign_text(kKind, wire::encode_manifest(manifest), key);
  return SignedManifest{std::move(text.text), text.signature, text.key_id};
}

Result<wire::RunManifest> verify_manifest(const SignedManifest& envelope, const crypto::PublicKey& key) {
  if (const Status status = verify_text(kKind, text_of(envelope), key); !status.ok()) {
    if (status.error().code != ErrorCode::permission_denied) return status.error().prefixed("check run manifest");
    return Error{ErrorCode::permission_denied,
                 "check run manifest: it is signed with another key than the one this "
                 "project gave when it was joined; ask its operator before joining again"};
  }
  return wire::decode_manifest(envelope.json);
}

std::string encode_envelope(const SignedManifest& envelope) { return encode_text(kKind, text_of(envelope)); }

Result<SignedManifest> decode_envelope(std::string_view json) {
  STARLING_ASSIGN(SignedText text, decode_text(kKind, json));
  return SignedManifest{std::move(text.text), text.signature, text.key_id};
}

}  // namespace starling::manifest
