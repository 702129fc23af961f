// The rows that the coordinator keeps, as plain values. Times are wall-clock milliseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/epoch_samples.h"
#include "shared/base/ids.h"

namespace starling::db {

// Millionths of a credit. Whole numbers, so that the ledger's sum and the totals agree exactly.
using MicroCredit = std::int64_t;
constexpr MicroCredit kMicroCreditsPerCredit = 1'000'000;

constexpr int kPageRowsMax = 1000;  // the most rows that any listing returns at once
// The part of a listing that is returned: at most `limit` rows, from the row `offset` on.
struct Page {
  int limit = 100;  // 1 … kPageRowsMax
  std::int64_t offset = 0;
};

// The condition of an account. Only active and anonymous ones may train.
enum class AccountState : std::uint8_t {
  active,
  waiting,    // waits for the operator's approval
  deleted,    // deleted by its owner; only its contributions are left
  anonymous,  // the one account of everybody without a name
};

// An account with as many confirmed rounds has a say like any other: it is off probation.
constexpr int kConfirmedEnough = 10;

// A volunteer. Rows are never deleted: the ledger refers to them.
struct Account {
  AccountId id = 0;
  std::string display_name;  // unique; upper and lower case of a-z count as the same letter
  WallTime created;
  AccountState state = AccountState::active;
  bool shows_computers = false;
  WallTime deleted = {};
  int confirmed = 0;                           // rounds of it that other accounts confirmed, up to kConfirmedEnough
  bool vouched = false;                        // the operator answers for it
  std::optional<std::int64_t> hosts_max = {};  // its own limit of computers; nothing: the project's usual one
  bool auditor = false;         // the operator's own: results of its computers decide checks of others' work
  WallTime watched_until = {};  // its work is always checked before that time

  // True for an account whose word counts about others' work (docs/trust.md).
  [[nodiscard]] bool established() const { return vouched || confirmed >= kConfirmedEnough; }
};

// Who took a computer out of the project. Its owner can take back only what was the owner's doing.
enum class Revoker : std::uint8_t { owner, project };

// A computer of an account, known by the digest of its key.
struct Host {
  PeerId peer_id;
  AccountId account_id = 0;
  WallTime created;
  WallTime last_seen;
  bool revoked = false;
  Revoker revoked_by = Revoker::owner;    // while it is revoked
  std::string label = {};                 // its owner's name for it; not shown to others
  std::optional<Digest> token_hash = {};  // hash of its device token; nothing where it joined without one
};

// A computer's first visit. It comes without an invite only where the project is open to everybody.
struct JoinRequest {
  std::string display_name;
  PeerId peer_id;
  std::optional<Digest> invite;  // hash of an invite's token, or of the code that links a computer to an account
  WallTime now;
  AccountState state = AccountState::active;  // state of the new account; `anonymous` shares one account among all
  AccountId account_id = 0;                   // 0: a new account; else the computer becomes one of this account's
  std::optional<Digest> token_hash = {};      // hash of the computer's device token
  std::int64_t hosts_max = 0;  // the most computers of an account without a limit of its own; 0: any number
};

// Permission for a number of new computers to join, known by the hash of its token.
struct Invite {
  Digest token_hash;  // the token itself is never stored
  WallTime created;
  WallTime expires;
  std::int64_t uses_max = 1;
  std::int64_t uses = 0;
};

// The operator's will, or the end: a complete run does not train again.
enum class RunState : std::uint8_t { paused, running, complete };

// A run as it is stored. Its manifest is checked elsewhere.
struct Run {
  RunId run_id;
  std::string manifest_envelope;  // signed; opaque here
  RunState state = RunState::paused;
  WallTime created;
  RoundIndex round = 0;        // the round being worked on: one past the highest that has a result
  WallTime retired = {};       // since then it is on no list and open to nobody; 0: in use
  std::int64_t rollbacks = 0;  // number of times that it was rolled back
  // Ledger lines of rounds from this one on are pending; nothing: all of the run are final.
  std::optional<RoundIndex> final_below{};
};

// The run went on in round `round` + 1 with the state that `to_round` began with. Results of the rounds from `to_round`
// on are given up; `round`, which was in work, has none.
struct Rollback {
  RunId run_id;
  RoundIndex round = 0;
  RoundIndex to_round = 0;
  Digest state_digest;
  WallTime at;
  // True for a round whose result is given up.
  [[nodiscard]] bool gives_up(RoundIndex decided) const { return to_round <= decided && decided <= round; }
};
// The project's signed statement of the state with which a round begins.
struct StateStatement {
  RoundIndex round = 0;
  std::int64_t serial = 0;
  std::string text;  // opaque here
  friend bool operator==(const StateStatement&, const StateStatement&) = default;
};
// The newest statement of a run, and the links of the rounds since.
struct StateChain {
  std::optional<StateStatement> statement;
  std::vector<std::string> links;  // by round; opaque here
};

// Takes the run back to the state that `to_round` began with.
struct RollbackRequest {
  RunId run_id;
  RoundIndex to_round = 0;
  WallTime now;
  // Signs the state with which the run goes on, in that round. Empty: no statement.
  std::function<StateStatement(RoundIndex round, const Digest& state_digest)> state{};
};

// The result of one group in one round.
struct RoundRecord {
  RunId run_id;
  RoundIndex round = 0;
  GroupId group_id;
  WallTime decided_at;
  SampleCount samples = 0;
  Digest state_digest;
  int survivors = 0;
  std::int64_t duration_ms = 0;
  double loss = 0;  // mean over the samples, nats per predicted token
};

// One line of the ledger: appended once, never changed.
struct Contribution {
  PeerId peer_id;
  AccountId account_id = 0;
  SampleCount samples = 0;
  MicroCredit credit = 0;
  WallTime at;
};

// A line of the ledger, numbered in the order of writing.
struct LedgerEntry {
  std::int64_t id = 0;
  RunId run_id;
  RoundIndex round = 0;
  Contribution contribution;
};

// Accepted samples and their credit, in millionths.
struct Totals {
  SampleCount samples = 0;
  MicroCredit credit = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};
inline double credit_of(const Totals& totals) {
  return static_cast<double>(totals.credit) / static_cast<double>(kMicroCreditsPerCredit);
}

// Quality of the state at the start of a round.
struct Evaluation {
  RunId run_id;
  RoundIndex round = 0;
  double bits_per_byte = 0;
  double loss = 0;         // nats per predicted token
  std::int64_t bytes = 0;  // held-out bytes that were predicted
  WallTime at;
  std::optional<double> accuracy{};  // the share of predictions that were right
  int measured_by = 1;               // number of computers that measured it and agree: the figures are their means
  [[nodiscard]] bool confirmed() const { return measured_by > 1; }
};

// Samples that a computer claims to have brought and that its group does not confirm: never in the ledger.
struct UnconfirmedClaim {
  RunId run_id;
  RoundIndex round = 0;
  PeerId peer_id;
  AccountId account_id = 0;
  SampleCount samples = 0;
  WallTime at;
};

// Sums of the claims that no group confirmed. Nothing is credited for them.
struct ClaimSums {
  std::int64_t claims = 0;  // at most one for each computer and round
  SampleCount samples = 0;
};

// The lane of the sample shuffle that a peer holds in a run (shared/run/training_data.h).
struct Lane {
  PeerId peer_id;
  int lane = 0;
  WallTime since;
};

// Samples of an epoch (shared/run/epochs.h) that one process of a peer may train on, until the last round is over.
struct LeasedSamples {
  PeerId peer_id;
  SampleCount number = 0;  // wire::SampleLease
  std::int64_t process = 0;
  std::int64_t epoch = 0;
  std::int64_t first = 0;
  SampleCount samples = 0;
  RoundIndex last_round = 0;
};

// A member's place in a group, and the account whose vote it shares. `role` is a number that the coordinator gives (its
// MemberRole).
struct Seat {
  int column = 0;  // column of a grid; 0 in a single group
  PeerId peer_id;
  AccountId account_id = 0;
  int role = 0;
  bool voice = true;  // its account votes
  friend bool operator==(const Seat&, const Seat&) = default;
};
// A group whose accounts may decide a round.
struct SeatedGroup {
  GroupId group_id;
  RoundIndex round = 0;
  bool dealt = true;  // by a coordinator; false: members form the group without one
  SampleCount samples_max = 0;
  std::vector<Seat> seats{};  // by column and rank
  friend bool operator==(const SeatedGroup&, const SeatedGroup&) = default;
};

// An epoch's samples by their fate; the rest is still to be counted.
struct EpochProgress {
  std::int64_t epoch = 0;
  SampleCount samples = 0;    // number in the epoch
  SampleCount counted = 0;    // number counted
  SampleCount set_aside = 0;  // number of other samples that are not waited for
};

// A copy of a run's state, which the members of a round agreed on; its file is an artefact.
struct KeptCheckpoint {
  RunId run_id;
  RoundIndex round = 0;  // the copy is of the state at this round's start
  Digest state_digest;
  Digest artefact;
  std::int64_t bytes = 0;
  PeerId peer_id;  // sender
  WallTime at;
};

// A file that runs refer to by its digest. The bytes lie in the project's folder, not in the database.
struct ArtefactRecord {
  Digest digest;
  std::int64_t bytes = 0;
  std::string name;  // for people; the digest names the file
};

}  // namespace starling::db
