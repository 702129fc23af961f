#include "shared/manifest/signed_manifest.h"

#include <vector>

#include "shared/crypto/digest.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::manifest {
namespace {

// Signed in front of the text, so that the signature counts for run manifests and for nothing else.
constexpr std::string_view kSignatureContext = "starling run manifest v1\n";

std::string signed_bytes(std::string_view json) { return std::string(kSignatureContext) + std::string(json); }

Digest key_id_of(const crypto::PublicKey& key) { return crypto::sha256(key.spki()); }

}  // namespace

Digest SignedManifest::digest() const { return crypto::sha256(json); }

Result<SignedManifest> sign_manifest(const wire::RunManifest& manifest, const crypto::PrivateKey& key) {
  STARLING_TRY(wire::check_manifest(manifest));
  SignedManifest envelope;
  envelope.json = wire::encode_manifest(manifest);
  envelope.signature = key.sign(crypto::as_bytes(signed_bytes(envelope.json)));
  envelope.key_id = key_id_of(key.public_key());
  return envelope;
}

Result<wire::RunManifest> verify_manifest(const SignedManifest& envelope, const crypto::PublicKey& key) {
  if (envelope.key_id != key_id_of(key)) {
    return Error{ErrorCode::permission_denied,
                 "check run manifest: it is signed with another key than the one this "
                 "project gave when it was joined; ask its operator before joining again"};
  }
  if (const Status status = key.verify(crypto::as_bytes(signed_bytes(envelope.json)), envelope.signature);
      !status.ok()) {
    return status.error().prefixed("check run manifest");
  }
  return wire::decode_manifest(envelope.json);
}

std::string encode_envelope(const SignedManifest& envelope) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("key_id", envelope.key_id.hex());
  writer.text("manifest", envelope.json);
  writer.text("signature", to_hex(envelope.signature));
  writer.close('}');
  return std::move(writer.str());
}

Result<SignedManifest> decode_envelope(std::string_view json) {
  const auto read = [](wire::JsonReader& reader, SignedManifest& envelope) {
    std::string signature;
    wire::read_id(reader, "key_id", envelope.key_id);
    reader.text("manifest", envelope.json, wire::kManifestBytesMax);
    reader.text("signature", signature, 2 * std::tuple_size_v<crypto::Signature>);
    if (!reader.status().ok()) return;
    if (const Status status = from_hex(signature, envelope.signature); !status.ok()) {
      reader.refuse("signature", status.error().message);
    }
  };
  return wire::decode_json<SignedManifest>(json, "signed manifest", kEnvelopeBytesMax, read);
}

}  // namespace starling::manifest
