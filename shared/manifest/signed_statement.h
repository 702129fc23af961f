// The project's signature under states (shared/protocol/state_proof.h): the key that signs manifests signs statements,
// and seals the links since. A key that the root has certified brings its certificate along.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/protocol/state_proof.h"

namespace starling::manifest {

// {"key_id","statement","signature"} and perhaps "key_certificate".
std::string sign_statement(const wire::StateStatement& statement, const SigningKey& signer);
SignatureBytes seal_link(const RunId& run_id, const wire::StateLink& link, const crypto::PrivateKey& key);

// Returns what it says, without a look at the signature; corrupt if it cannot be read.
Result<wire::StateStatement> decode_statement(std::string_view text);

struct SignedStatement {
  wire::StateStatement statement;
  std::int64_t key_number = 0;  // see manifest::key_number
  crypto::PublicKey key;        // seals the links
};
// permission_denied: neither `root` nor a key that it has certified signed it. corrupt: it is damaged.
Result<SignedStatement> verify_statement(std::string_view text, const crypto::PublicKey& root);

// A state, by the round that begins with it.
struct ProvenState {
  RoundIndex round = 0;
  Digest digest;
};
// The states that a proof leads through, from the statement's to the newest.
struct ProvenStates {
  wire::StateStatement statement;
  std::int64_t key_number = 0;
  std::vector<ProvenState> path;
};
// Returns the states of a proof that holds. permission_denied or corrupt: the statement or a seal is not the project's;
// invalid_argument: it is about another run, a link does not begin where the one before ends, or does not hold.
Result<ProvenStates> verify_proof(const wire::StateProof& proof, const RunId& run_id, const crypto::PublicKey& root);

}  // namespace starling::manifest
