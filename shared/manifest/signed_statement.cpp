#include "shared/manifest/signed_statement.h"

#include <fmt/format.h>

#include <utility>

#include "shared/crypto/digest.h"
#include "shared/manifest/key_certificate.h"
#include "shared/manifest/signed_report.h"
#include "shared/manifest/signed_text.h"

namespace starling::manifest {
namespace {

constexpr TextKind kKind{
    .name = "state statement", .context = "starling state statement v1\n", .field = "statement", .bytes_max = 1024};

}  // namespace

std::string sign_statement(const wire::StateStatement& statement, const SigningKey& signer) {
  SignedText text = sign_text(kKind, wire::encode(statement), signer.key);
  text.key_certificate = signer.certificate;
  return encode_text(kKind, text);
}

SignatureBytes seal_link(const RunId& run_id, const wire::StateLink& link, const crypto::PrivateKey& key) {
  return {key.sign(crypto::as_bytes(wire::sealed_text(run_id, link)))};
}

Result<wire::StateStatement> decode_statement(std::string_view text) {
  STARLING_ASSIGN(const SignedText envelope, decode_text(kKind, text));
  return wire::decode_state_statement(envelope.text);
}

Result<SignedStatement> verify_statement(std::string_view text, const crypto::PublicKey& root) {
  STARLING_ASSIGN(const SignedText envelope, decode_text(kKind, text));
  SignedStatement verified{{}, 0, root};
  if (!envelope.key_certificate.empty()) {
    STARLING_ASSIGN(KeyCertificate certificate, verify_key(envelope.key_certificate, root));
    verified.key_number = certificate.number;
    verified.key = std::move(certificate.key);
  }
  STARLING_TRY(verify_text(kKind, envelope, verified.key));
  STARLING_ASSIGN(verified.statement, wire::decode_state_statement(envelope.text));
  return verified;
}

Result<ProvenStates> verify_proof(const wire::StateProof& proof, const RunId& run_id, const crypto::PublicKey& root) {
  STARLING_ASSIGN(SignedStatement verified, verify_statement(proof.statement, root));
  if (verified.statement.run_id != run_id) {
    return Error{ErrorCode::invalid_argument, "the statement is about another run"};
  }
  ProvenStates proven{verified.statement, verified.key_number, {}};
  proven.path.push_back({verified.statement.round, verified.statement.state_digest});
  for (const wire::StateLink& link : proof.links) {
    const ProvenState& last = proven.path.back();
    if (link.round != last.round || link.base_digest != last.digest) {
      return Error{
          ErrorCode::invalid_argument,
          fmt::format("the link of round {} does not follow from the state of round {}", link.round, last.round)};
    }
    const Status sealed = verified.key.verify(crypto::as_bytes(wire::sealed_text(run_id, link)), link.seal.bytes);
    if (!sealed.ok()) {
      return Error{ErrorCode::corrupt,
                   fmt::format("the seal of the link of round {} is not the project's", link.round)};
    }
    STARLING_TRY(wire::check_votes(run_id, link, check_signature));
    proven.path.push_back({link.round + 1, link.state_digest});
  }
  return proven;
}

}  // namespace starling::manifest
