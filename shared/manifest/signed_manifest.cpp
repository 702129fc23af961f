#include "shared/manifest/signed_manifest.h"

#include "shared/crypto/digest.h"
#include "shared/manifest/key_certificate.h"
#include "shared/manifest/signed_text.h"

namespace starling::manifest {
namespace {

constexpr TextKind kKind{.name = "signed manifest",
                         .context = "starling run manifest v1\n",
                         .field = "manifest",
                         .bytes_max = wire::kManifestBytesMax};

SignedText text_of(const SignedManifest& envelope) {
  return {envelope.json, envelope.signature, envelope.key_id, envelope.key_certificate};
}

SignedManifest signed_by(std::string json, const SigningKey& signer) {
  SignedText text = sign_text(kKind, std::move(json), signer.key);
  return {std::move(text.text), text.signature, text.key_id, signer.certificate};
}

// The key that must have signed: the certified one, or the root.
Result<crypto::PublicKey> signing_key(const SignedManifest& envelope, const crypto::PublicKey& root) {
  if (envelope.key_certificate.empty()) return root;
  STARLING_ASSIGN(KeyCertificate certificate, verify_key(envelope.key_certificate, root));
  return std::move(certificate.key);
}

}  // namespace

Digest SignedManifest::digest() const { return crypto::sha256(json); }

Result<SignedManifest> sign_manifest(const wire::RunManifest& manifest, const SigningKey& signer) {
  STARLING_TRY(wire::check_manifest(manifest));
  return signed_by(wire::encode_manifest(manifest), signer);
}

SignedManifest sign_again(const SignedManifest& envelope, const SigningKey& signer) {
  return signed_by(envelope.json, signer);
}

Status verify_signature(const SignedManifest& envelope, const crypto::PublicKey& root) {
  const auto key = signing_key(envelope, root);
  const Status status = key ? verify_text(kKind, text_of(envelope), *key) : key.status();
  if (status.ok()) return {};
  if (status.error().code != ErrorCode::permission_denied) return status.error().prefixed("check run manifest");
  return Error{ErrorCode::permission_denied,
               "check run manifest: it is signed with another key than the one this "
               "project gave when it was joined; ask its operator before joining again"};
}

Result<wire::RunManifest> verify_manifest(const SignedManifest& envelope, const crypto::PublicKey& root) {
  STARLING_TRY(verify_signature(envelope, root));
  return wire::decode_manifest(envelope.json);
}

std::int64_t key_number(const SignedManifest& envelope, const crypto::PublicKey& root) {
  if (envelope.key_certificate.empty()) return 0;
  const auto certificate = verify_key(envelope.key_certificate, root);
  return certificate ? certificate->number : 0;
}

std::string encode_envelope(const SignedManifest& envelope) { return encode_text(kKind, text_of(envelope)); }

Result<SignedManifest> decode_envelope(std::string_view json) {
  STARLING_ASSIGN(SignedText text, decode_text(kKind, json));
  return SignedManifest{std::move(text.text), text.signature, text.key_id, std::move(text.key_certificate)};
}

}  // namespace starling::manifest
