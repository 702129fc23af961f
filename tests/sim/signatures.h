// Signatures that cost nothing and are equal in every run of a seed: hashes that the simulator's own parts do not
// forge.
#pragma once

#include <string_view>

#include "client/session/state_chain.h"
#include "coordinator/core/state_chain_book.h"
#include "shared/protocol/round_report.h"

namespace starling::sim {

PeerSignature sign(const PeerId& member, std::string_view text);

// The project's key.
class ProjectKey final : public core::StateSigner {
 public:
  [[nodiscard]] std::string sign(const wire::StateStatement& statement) const override;
  [[nodiscard]] SignatureBytes seal(const RunId& run_id, const wire::StateLink& link) const override;
};

// Judges like manifest::verify_proof, by these signatures.
Result<manifest::ProvenStates> verify_proof(const wire::StateProof& proof);

}  // namespace starling::sim
