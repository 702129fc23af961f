#include "shared/manifest/signed_text.h"

#include <utility>

#include "shared/crypto/digest.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::manifest {
namespace {

std::string signed_bytes(const TextKind& kind, std::string_view text) {
  return std::string(kind.context) + std::string(text);
}

Digest key_id_of(const crypto::PublicKey& key) { return crypto::sha256(key.spki()); }

}  // namespace

SignedText sign_text(const TextKind& kind, std::string text, const crypto::PrivateKey& key) {
  const crypto::Signature signature = key.sign(crypto::as_bytes(signed_bytes(kind, text)));
  return {std::move(text), signature, key_id_of(key.public_key()), {}};
}

Status verify_text(const TextKind& kind, const SignedText& envelope, const crypto::PublicKey& key) {
  if (envelope.key_id != key_id_of(key)) {
    return Error{ErrorCode::permission_denied, std::string(kind.name) + ": it is signed with another key"};
  }
  return key.verify(crypto::as_bytes(signed_bytes(kind, envelope.text)), envelope.signature);
}

std::string encode_text(const TextKind& kind, const SignedText& envelope) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("key_id", envelope.key_id.hex());
  writer.text(kind.field, envelope.text);
  writer.text("signature", to_hex(envelope.signature));
  if (!envelope.key_certificate.empty()) writer.text("key_certificate", envelope.key_certificate);
  writer.close('}');
  return std::move(writer.str());
}

Result<SignedText> decode_text(const TextKind& kind, std::string_view json) {
  // JSON escapes can double the text; the other fields are short.
  constexpr std::size_t kAddedBytesMax = 8 * 1024;
  constexpr std::size_t kCertificateBytesMax = 2 * 1024;
  const auto read = [&](wire::JsonReader& reader, SignedText& envelope) {
    std::string signature;
    wire::read_id(reader, "key_id", envelope.key_id);
    reader.text(kind.field, envelope.text, kind.bytes_max, wire::TextForm::exact);
    reader.text("signature", signature, 2 * std::tuple_size_v<crypto::Signature>);
    if (reader.present("key_certificate"))
      reader.text("key_certificate", envelope.key_certificate, kCertificateBytesMax, wire::TextForm::exact);
    if (!reader.status().ok()) return;
    if (const Status status = from_hex(signature, envelope.signature); !status.ok()) {
      reader.refuse("signature", status.error().message);
    }
  };
  return wire::decode_json<SignedText>(json, kind.name, 2 * kind.bytes_max + kAddedBytesMax, read);
}

}  // namespace starling::manifest
