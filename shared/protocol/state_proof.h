// Proof that a state is the swarm's, for members that have not made it themselves: a statement that the project has
// signed, of the state of some round, and a link for each round since. A link names the accounts that could decide its
// round, under the project's seal, and holds the signatures of more than half of them under the round's result. So
// neither the project's key alone nor members alone lead anybody from a state that he knows to another one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/round_report.h"
#include "shared/wire/limits.h"

namespace starling::wire {

constexpr std::size_t kStateProofBytesMax = 64 * 1024;  // with its statement
// The links of a proof, as text; where they would have more, a statement takes their place.
constexpr std::size_t kStateLinksBytesMax = 48 * 1024;
constexpr std::size_t kStateLinksMax = 256;
constexpr std::size_t kStatementBytesMax = 8 * 1024;  // signed, with the key's certificate

// A member that could decide a round, by rank.
struct StateVoter {
  PeerId peer;
  std::uint32_t voter = 0;  // members with equal numbers have one vote together; 0: it has none
  friend bool operator==(const StateVoter&, const StateVoter&) = default;
};

// An account's vote: the signature of one of its members under the round's result.
struct StateVote {
  std::uint32_t rank = 0;  // the member's, among the voters
  PeerSignature signature;
  friend bool operator==(const StateVote&, const StateVote&) = default;
};

// The step from one round's state to the next one's.
struct StateLink {
  RoundIndex round = 0;
  GroupId group;
  Digest base_digest;  // the state of `round`
  Hash128 result_digest;
  Digest state_digest;  // the state of round + 1
  std::vector<StateVoter> voters;
  std::vector<StateVote> votes;  // by rank
  SignatureBytes seal;           // the project's, over sealed_text()
  friend bool operator==(const StateLink&, const StateLink&) = default;
};

// The cause of a statement.
enum class StatementCause : std::uint8_t {
  start,     // the run has begun, or was upgraded
  advance,   // the links since the last statement would be too many
  loss,      // nobody held the state any more, and another one was taken
  rollback,  // the operator has gone back to an earlier one
};
std::string_view to_string(StatementCause cause);

// The project's word: the state with which this round of the run begins.
struct StateStatement {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
  std::int64_t serial = 0;  // a later statement has a higher one
  StatementCause cause = StatementCause::start;
  friend bool operator==(const StateStatement&, const StateStatement&) = default;
};

struct StateProof {
  std::string statement;         // signed (shared/manifest/signed_statement.h)
  std::vector<StateLink> links;  // the rounds since, without a gap
};

std::string encode(const StateLink& link);
std::string encode(const StateStatement& statement);
std::string encode(const StateProof& proof);
// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<StateLink> decode_state_link(std::string_view json);
Result<StateStatement> decode_state_statement(std::string_view json);
Result<StateProof> decode_state_proof(std::string_view json);

// The bytes under a link's seal: who could decide which round.
std::string sealed_text(const RunId& run_id, const StateLink& link);

// Ok if `signer` has signed this text.
using SignatureCheck =
    std::function<Status(const PeerId& signer, const PeerSignature& signature, std::string_view text)>;
// Returns ok if more than half of the link's accounts have signed its result. invalid_argument with the reason: an
// account votes twice, a member votes that has no vote, a signature does not fit, or too few votes. The seal is the
// caller's to check.
Status check_votes(const RunId& run_id, const StateLink& link, const SignatureCheck& check);

}  // namespace starling::wire
