#include "shared/manifest/signed_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "shared/crypto/digest.h"

namespace starling::manifest {
namespace {

// The SubjectPublicKeyInfo of an Ed25519 key is this prefix and the key's raw bytes (RFC 8410).
constexpr std::array<std::uint8_t, 12> kSpkiPrefix = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                                      0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

std::vector<std::uint8_t> spki_of(const wire::KeyBytes& key) {
  std::vector<std::uint8_t> spki(kSpkiPrefix.begin(), kSpkiPrefix.end());
  spki.insert(spki.end(), key.bytes.begin(), key.bytes.end());
  return spki;
}

Error refused(const wire::RoundReport& report, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("the report of round {} does not count: {}", report.round, why)};
}

}  // namespace

wire::KeyBytes raw_key(const crypto::PublicKey& key) {
  const std::vector<std::uint8_t> spki = key.spki();
  wire::KeyBytes raw;
  std::copy(spki.end() - static_cast<std::ptrdiff_t>(raw.bytes.size()), spki.end(), raw.bytes.begin());
  return raw;
}

void sign_report(const RunId& run_id, const crypto::PrivateKey& key, wire::RoundReport& report) {
  const std::string text = wire::signed_text(run_id, wire::signed_result(report));
  report.signature = {raw_key(key.public_key()), {key.sign(crypto::as_bytes(text))}};
}

Status check_signature(const PeerId& signer, const wire::MemberSignature& signature, std::string_view text) {
  const std::vector<std::uint8_t> spki = spki_of(signature.key);
  if (crypto::sha256(spki).bytes != signer.bytes) {
    return Error{ErrorCode::permission_denied, "check signature: the key is another computer's"};
  }
  STARLING_ASSIGN(const crypto::PublicKey key, crypto::PublicKey::from_spki(spki));
  return key.verify(crypto::as_bytes(text), signature.signature.bytes);
}

Status check_report_signature(const RunId& run_id, const PeerId& reporter, const wire::RoundReport& report) {
  if (!report.signature) return refused(report, "it is not signed");
  const std::string text = wire::signed_text(run_id, wire::signed_result(report));
  const Status checked = check_signature(reporter, *report.signature, text);
  if (checked.ok()) return {};
  if (checked.error().code == ErrorCode::permission_denied) {
    return refused(report, "it is signed with another computer's key");
  }
  return refused(report, "its signature belongs to another report");
}

}  // namespace starling::manifest
