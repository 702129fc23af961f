#include "tests/sim/signatures.h"

#include <algorithm>
#include <span>
#include <string>

#include "shared/base/hash.h"

namespace starling::sim {
namespace {

constexpr std::string_view kProject = "project ";

SignatureBytes hash_of(std::string_view signer, std::string_view text) {
  const std::string bytes = std::string(signer) + std::string(text);
  const Hash128 hash = hash128({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  SignatureBytes signature;
  std::copy(hash.bytes.begin(), hash.bytes.end(), signature.bytes.begin());
  return signature;
}

Status check(const PeerId& signer, const PeerSignature& signature, std::string_view text) {
  if (signature == sign(signer, text)) return {};
  return Error{ErrorCode::corrupt, "it is another member's, or of another text"};
}

}  // namespace

PeerSignature sign(const PeerId& member, std::string_view text) {
  PeerSignature signature;
  signature.key.bytes = member.bytes;
  signature.signature = hash_of(member.hex(), text);
  return signature;
}

std::string ProjectKey::sign(const wire::StateStatement& statement) const {
  const std::string text = wire::encode(statement);
  return hash_of(kProject, text).hex() + text;
}

SignatureBytes ProjectKey::seal(const RunId& run_id, const wire::StateLink& link) const {
  return hash_of(kProject, wire::sealed_text(run_id, link));
}

Result<manifest::ProvenStates> verify_proof(const wire::StateProof& proof) {
  constexpr std::size_t kHexBytes = 2 * SignatureBytes::kSize;
  const std::string text = proof.statement.substr(std::min(kHexBytes, proof.statement.size()));
  if (proof.statement != hash_of(kProject, text).hex() + text) {
    return Error{ErrorCode::permission_denied, "the statement is not the project's"};
  }
  manifest::ProvenStates proven;
  STARLING_ASSIGN(proven.statement, wire::decode_state_statement(text));
  const RunId& run_id = proven.statement.run_id;
  proven.path.push_back({proven.statement.round, proven.statement.state_digest});
  for (const wire::StateLink& link : proof.links) {
    const manifest::ProvenState& last = proven.path.back();
    if (link.round != last.round || link.base_digest != last.digest) {
      return Error{ErrorCode::invalid_argument, "a link does not follow"};
    }
    if (link.seal != hash_of(kProject, wire::sealed_text(run_id, link))) {
      return Error{ErrorCode::corrupt, "a seal is not the project's"};
    }
    STARLING_TRY(wire::check_votes(run_id, link, check));
    proven.path.push_back({link.round + 1, link.state_digest});
  }
  return proven;
}

}  // namespace starling::sim
