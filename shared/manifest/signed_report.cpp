#include "shared/manifest/signed_report.h"

#include <fmt/format.h>

#include <string>

#include "shared/crypto/digest.h"
#include "shared/crypto/peer_signer.h"

namespace starling::manifest {
namespace {

Error refused(const wire::RoundReport& report, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("the report of round {} does not count: {}", report.round, why)};
}

}  // namespace

void sign_report(const RunId& run_id, const crypto::PrivateKey& key, wire::RoundReport& report) {
  const std::string text = wire::signed_text(run_id, wire::signed_result(report));
  report.signature = crypto::make_peer_signer(key)->sign(crypto::as_bytes(text));
}

Status check_signature(const PeerId& signer, const PeerSignature& signature, std::string_view text) {
  return crypto::verify_peer_signature(crypto::as_bytes(text), signature, signer);
}

Status check_report_signature(const RunId& run_id, const PeerId& reporter, const wire::RoundReport& report) {
  if (!report.signature) return refused(report, "it is not signed");
  const std::string text = wire::signed_text(run_id, wire::signed_result(report));
  const Status checked = check_signature(reporter, *report.signature, text);
  if (checked.ok()) return {};
  if (checked.error().code == ErrorCode::corrupt) return refused(report, "its signature belongs to another report");
  return refused(report, "it is signed with another computer's key");
}

}  // namespace starling::manifest
