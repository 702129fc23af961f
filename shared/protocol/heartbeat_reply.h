// The coordinator's answer to a member's heartbeat: all that is due, in one message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/audit.h"
#include "shared/protocol/cell_dealing.h"
#include "shared/protocol/checkpoint.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/limits.h"
#include "shared/protocol/sample_lease.h"
#include "shared/protocol/state_proof.h"
#include "shared/protocol/states.h"

namespace starling::wire {

constexpr std::size_t kDonorsMax = 8;
constexpr std::size_t kNewcomersMax = 64;
constexpr std::size_t kRevokedMax = 256;
constexpr std::size_t kRelayClientsMax = 16;  // limit for one volunteer's relay

// The whole swarm's work toward a round.
struct SwarmFigures {
  SampleCount target_batch_size = 0;
  SampleCount samples_accumulated = 0;  // by all members
  double samples_per_s = 0;
  int size = 0;
};

// An account's credit in this run, from the ledger.
struct CreditFigures {
  SampleCount samples = 0;
  double credit = 0;
};

// How a member is helped to be called, or helps others.
struct RelayDuty {
  std::optional<Endpoint> at;        // where this member, which nobody can dial, should wait for calls
  std::vector<PeerId> clients;       // members that wait for calls at this one
  std::int64_t bytes_per_round = 0;  // that each of them and another may pass
};

// A member's address as others see it.
struct SeenAddress {
  Reachability reachability = Reachability::unknown;
  std::string address;  // the one from which it called the coordinator
};

// Members of whom this one knows nothing but what the coordinator says.
struct NamedMembers {
  // They were lately told to get the state from this member. Unset: an older coordinator, which names nobody.
  std::optional<std::vector<PeerId>> newcomers;
  // They were taken out of the project, and their certificates may still be in their time: nobody should have links
  // with them. Replaces the list of the reply before.
  std::vector<PeerId> revoked;
  // The answer to Computing::cells.
  std::optional<CellsDealt> cells{};
};

// The coordinator's own help for a member that does not hold state_digest, its challenge for those that do, and the
// audits that are due.
struct KeptForMembers {
  std::optional<Checkpoint> checkpoint;   // a copy, when no member has proven that it holds the state
  std::optional<StateProof> state_proof;  // for a member that asked for it; unset: states are not signed here
  Hash128 challenge{};                    // HoldingProof; zero: an older coordinator, which wants no proof
  AuditsDue audits{};
};

// Everything that is due, in one answer.
struct HeartbeatReply {
  RunState run_state = RunState::created;
  RoundIndex round = 0;               // the round the swarm is working on
  Digest state_digest;                // the replicas' at its start; zero: nobody holds a state yet
  int lane = 0;                       // this member's sample lane
  std::vector<SampleLease> leases{};  // all that this process holds, by number
  SwarmFigures swarm;
  // Every report of a round below this is settled; drop it. Beyond `round` it says that the member's results from
  // `round` on are void, because their groups came to no decision: it must return to state_digest.
  RoundIndex acknowledged_rounds = 0;
  std::int64_t next_heartbeat_ms = 1000;
  std::int64_t server_unix_ms = 0;  // the coordinator's wall clock
  bool renew_certificate = false;
  std::optional<GroupInfo> group;  // the averaging this member must take part in
  std::vector<Endpoint> donors;    // members that hold state_digest, when this member does not
  KeptForMembers kept;
  bool send_checkpoint = false;  // it is this member's turn to send the coordinator the state it holds, state_digest
  // It is this member's turn to measure the held-out loss of the state at the start of this round, once it is there.
  // "evaluate": true goes with it; from an older coordinator that stands alone, and means the state of `round`.
  std::optional<RoundIndex> evaluate_round;
  CreditFigures credited;
  SeenAddress seen;
  RelayDuty relaying;
  NamedMembers named;
  std::string notice;  // for the volunteer, e.g. why samples were refused; usually empty
};

std::string encode(const HeartbeatReply& message);

// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<HeartbeatReply> decode_heartbeat_reply(std::string_view json);

}  // namespace starling::wire
