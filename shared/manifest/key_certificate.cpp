#include "shared/manifest/key_certificate.h"

#include "shared/manifest/signed_text.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::manifest {
namespace {

constexpr TextKind kKind{
    .name = "key certificate", .context = "starling manifest key v1\n", .field = "key", .bytes_max = 1024};

struct Fields {
  std::int64_t number = 0;
  std::string public_key;
};

}  // namespace

std::string certify_key(const KeyCertificate& certificate, const crypto::PrivateKey& root) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.integer("number", certificate.number);
  writer.text("public_key", certificate.key.to_pem());
  writer.close('}');
  return encode_text(kKind, sign_text(kKind, writer.str(), root));
}

Result<KeyCertificate> verify_key(std::string_view certificate, const crypto::PublicKey& root) {
  STARLING_ASSIGN(const SignedText text, decode_text(kKind, certificate));
  STARLING_TRY(verify_text(kKind, text, root));
  STARLING_ASSIGN(
      const Fields fields,
      wire::decode_json<Fields>(text.text, kKind.name, kKind.bytes_max, [](wire::JsonReader& reader, Fields& read) {
        reader.integer("number", read.number, 1, INT64_MAX);
        reader.text("public_key", read.public_key, crypto::kPemBytesMax, wire::TextForm::exact);
      }));
  STARLING_ASSIGN(crypto::PublicKey key, crypto::PublicKey::from_pem(fields.public_key));
  return KeyCertificate{fields.number, std::move(key)};
}

}  // namespace starling::manifest
