// The messages between a volunteer's daemon and the coordinator: JSON over HTTPS.
//   GET  /v1/ca            the project's CA certificate, PEM; checked against the join link's fingerprint
//   POST /v1/join          JoinRequest -> JoinReply       (no client certificate yet)
//   POST /v1/renew         RenewRequest -> RenewReply     (the CSR's signature proves the key; the device token, too)
//   POST /v1/heartbeat     Heartbeat -> HeartbeatReply    (client certificate required)
//   GET  /v1/run           the signed manifest envelope of the run
//   GET  /v1/artefacts/H   the bytes whose SHA-256 is H
//   POST /v1/checkpoint?round=R&digest=D&offset=N   a piece of the state from byte N on, at most kCheckpointPieceBytes,
//                          by the member that was asked (HeartbeatReply::send_checkpoint) -> CheckpointReply
// A refusal is an HTTP status with an ErrorReply ({"code","error"}). Unknown fields are ignored, missing ones are
// errors, so that either side may be one version older. Every list and string is bounded by a constant below.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/group_info.h"
#include "shared/run/run_manifest.h"

namespace starling::wire {

constexpr int kProtocolVersion = 1;
constexpr std::size_t kJsonBytesMax = 128 * 1024;    // any request body: a report of 500 members fits
constexpr std::size_t kReplyBytesMax = 1024 * 1024;  // any reply body: a plan of kGroupMembersMax members fits
constexpr std::size_t kNameBytesMax = 40;            // display and project names
constexpr std::size_t kPasswordBytesMax = 256;
constexpr std::size_t kEmailBytesMax = 254;
constexpr std::size_t kReportsPerHeartbeatMax = 16;
constexpr std::size_t kComplaintsMax = 16;  // in a report
constexpr std::size_t kDonorsMax = 8;
constexpr std::size_t kRelayClientsMax = 16;                      // limit for one volunteer's relay
constexpr std::int64_t kMessageCountMax = std::int64_t{1} << 48;  // rounds, samples, bytes, milliseconds
constexpr double kMessageRateMax = 1e15;                          // samples or bytes a second; credit
constexpr double kJitterMax = 10;                                 // standard deviation over mean
constexpr double kRoundTripMaxS = 60;

// The body of every answer that is no success.
struct ErrorReply {
  std::string code;     // to_string(ErrorCode)
  std::string message;  // for people: what was tried, why it failed, what to do
};

// A computer's request to take part, with a key that it has just made.
struct JoinRequest {
  int protocol = kProtocolVersion;
  std::string client_version;
  std::string invite;        // token of the join link; empty where the project is open
  std::string display_name;  // shown on the leaderboard
  std::string csr_pem;       // PKCS#10 with the host's Ed25519 key
  // With a password: the account's of this name, or a new one's. If an e-mail address stands in place of a name, the
  // account is the one with that address.
  std::string password = {};
  std::string email = {};  // a new account's; may be empty
  // The computer's own secret for this project: its key alone does not bring a certificate. Empty: a computer that
  // joined before there were such secrets has none.
  std::string device_token = {};
};

// The computer's identity in the project, which it keeps.
struct JoinReply {
  AccountId account_id = 0;
  PeerId peer_id;
  std::string project_name;
  std::string certificate_pem;      // this host's, short-lived
  std::string manifest_public_key;  // PEM; pinned by the client from now on
  std::int64_t server_unix_ms = 0;  // lets the client notice a wrong clock
  std::string display_name = {};    // the account's; the project may know it by another name than was asked for
};

// A request for a new certificate of the same key. It needs no client certificate, which may have expired.
struct RenewRequest {
  std::string csr_pem;
  std::string device_token = {};  // the one that it joined with
};

// The new certificate, and the coordinator's time.
struct RenewReply {
  std::string certificate_pem;
  std::int64_t server_unix_ms = 0;
};

// The activity of a member. Only `training` and `averaging` members are planned into a round. A member reports
// `evaluating` only to a coordinator that has asked it to evaluate.
enum class MemberPhase : std::uint8_t { joining, downloading, training, averaging, paused, leaving, evaluating };
std::string_view to_string(MemberPhase phase);

// The way in which a member did not keep its part of the plan.
enum class Fault : std::uint8_t {
  absent,    // did not begin in time
  gone,      // its link broke
  silent,    // nothing came from it any more, or it heard nobody
  slow,      // much slower than the others, or alive without progress
  nonsense,  // its frames break the protocol, or its result differs
};
std::string_view to_string(Fault fault);

// One member's word about another of its group: its own observation, never hearsay.
struct Complaint {
  PeerId peer;
  Fault fault = Fault::gone;
};

// The work of one averaging group, reported by a member that finished the round. Reports of one group agree bit for
// bit; the coordinator credits the contributions that the majority of the group's survivors reports.
struct Contribution {
  PeerId peer;
  SampleCount samples = 0;  // averaged into the result: weight x share of coordinates that carried it
  // number of the first of these samples, as the peer told its group (SampleLease); 0: none is leased
  SampleCount draw = 0;
};
// The part of a grid's report beside its own column's contributions.
struct GridShare {
  std::uint32_t column = 0;           // its own
  std::vector<SampleCount> accepted;  // by column: samples that the heads have averaged into the result
};

// A member's account of a round that it finished. The coordinator believes it when more than half of the group's
// accounts agree.
struct RoundReport {
  RoundIndex round = 0;
  GroupId group;                // in a grid: the whole grid's id
  bool autonomous = false;      // planned by the members while the coordinator was away
  std::vector<PeerId> members;  // the planned ones; in a grid, those of the reporter's column
  std::vector<Contribution> contributions;
  std::optional<GridShare> grid;
  Hash128 result_digest;  // digest of the averaged vector and its contributor sets
  Digest state_digest;    // the replica's after the step: the state of round + 1
  double loss = 0;        // the reporter's own mean training loss in the round, nats; NaN-free
  std::int64_t averaging_ms = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::vector<Complaint> complaints{};  // the reporter's own
};

// One member's measurement of the state at the start of `round`.
struct EvaluationReport {
  RoundIndex round = 0;
  double bits_per_byte = 0;
  std::int64_t bytes = 0;  // bytes that were predicted; 0: it could not measure it
  std::optional<double>
      accuracy{};  // the fraction of predictions that were right; none for a model that returns its loss only
};

// Samples that only this member may train on, until the round `last_round` is over: `count` consecutive places of an
// epoch's order (epochs.h), from `first` on. A member's draws are numbered through all of its leases: this one's have
// the numbers from `number` (at least 1) on. It draws in their order, and no number twice. The member's group says
// which of them count: a gradient of `samples` that was averaged in and has the first draw d stands for the draws from
// d to d + samples - 1. Draws that did not count return to the pool once last_round is over.
struct SampleLease {
  SampleCount number = 0;
  std::int64_t epoch = 0;
  std::int64_t first = 0;
  SampleCount count = 0;
  RoundIndex last_round = 0;
  friend bool operator==(const SampleLease&, const SampleLease&) = default;
};
constexpr std::size_t kLeasesMax = 64;  // limit for one member at a time

// A member's condition and measurements, sent at the interval that the last reply named.
struct Heartbeat {
  int protocol = kProtocolVersion;
  RunId run_id;
  MemberPhase phase = MemberPhase::joining;
  RoundIndex state_round = 0;          // the replica has taken this many steps
  Digest state_digest;                 // zero while there is no state
  SampleCount samples_this_round = 0;  // accumulated toward round state_round
  double samples_per_s = 0;            // while computing; smoothed
  double batch_seconds = 0;            // one micro-batch: how late this member may come to a meeting
  double batch_jitter = 0;             // standard deviation of its time, over the mean; 0: not known yet
  int listen_port = 0;                 // the peer transport's; 0: cannot be dialled
  double upload_bytes_per_s = 0;       // measured in earlier rounds; 0: not known yet
  double download_bytes_per_s = 0;
  double round_trip_s = 0;           // the usual one to members that it has links with; 0: not known yet
  PeerId posted_at;                  // the relay at which others can call this member now; zero: none
  double relay_bytes_per_s = 0;      // rate that it offers to relay for others; 0: nothing
  std::vector<RoundReport> reports;  // not acknowledged yet, oldest first
  std::optional<EvaluationReport> evaluation;
  // Where samples are leased: this process (random, not 0; an earlier one's leases are not used again), and the number
  // of its next draw. Both stay unchanged until a reply has come, so a lost call loses nothing.
  std::int64_t process = 0;
  SampleCount next_draw = 0;
};

// A copy of the state at the start of a round that the coordinator keeps and serves, as an artefact: the floats in
// memory order, little-endian.
struct Checkpoint {
  RoundIndex round = 0;
  Digest state_digest;
  Artefact file;
};
constexpr std::size_t kCheckpointPieceBytes = 96 * 1024;

// The coordinator's part of an upload that may be cut off at any byte.
struct CheckpointReply {
  std::int64_t bytes = 0;  // bytes from the start on that the coordinator has; the next piece begins there
};

// The run's condition; members train while it is `running`.
enum class RunState : std::uint8_t { created, running, paused, complete };
std::string_view to_string(RunState state);

// The coordinator's finding whether others can dial a member. It dials the member itself: at the address its heartbeats
// come from, and the port they name.
enum class Reachability : std::uint8_t { unknown, reachable, blocked };
std::string_view to_string(Reachability reachability);

// Everything that is due, in one answer.
struct HeartbeatReply {
  RunState run_state = RunState::created;
  RoundIndex round = 0;               // the round the swarm is working on
  Digest state_digest;                // the replicas' at its start; zero: nobody holds a state yet
  int lane = 0;                       // this member's sample lane
  std::vector<SampleLease> leases{};  // all that this process holds, by number
  SampleCount target_batch_size = 0;
  SampleCount samples_accumulated = 0;  // toward `round`, by all members
  double swarm_samples_per_s = 0;
  int swarm_size = 0;
  // Every report of a round below this is settled; drop it. Beyond `round` it says that the member's results from
  // `round` on are void, because their groups came to no decision: it must return to state_digest.
  RoundIndex acknowledged_rounds = 0;
  std::int64_t next_heartbeat_ms = 1000;
  std::int64_t server_unix_ms = 0;  // the coordinator's wall clock
  bool renew_certificate = false;
  std::optional<GroupInfo> group;        // the averaging this member must take part in
  std::vector<Endpoint> donors;          // members that hold state_digest, when this member does not
  std::optional<Checkpoint> checkpoint;  // state_digest's, when no member holds it but the coordinator does
  bool send_checkpoint = false;  // it is this member's turn to send the coordinator the state it holds, state_digest
  // It is this member's turn to measure the held-out loss of the state at the start of this round, once it is there.
  // "evaluate": true goes with it; from an older coordinator that stands alone, and means the state of `round`.
  std::optional<RoundIndex> evaluate_round;
  SampleCount credited_samples = 0;  // this account's in this run, from the ledger
  double credit = 0;
  Reachability reachability = Reachability::unknown;
  std::string address;            // this member's, as the coordinator sees it
  std::optional<Endpoint> relay;  // where this member, which nobody can dial, should wait for calls
  std::vector<PeerId> relay_for;  // members that wait for calls at this one
  std::int64_t relay_bytes = 0;   // bytes that each of them and another may pass in a round
  std::string notice;             // for the volunteer, e.g. why samples were refused; usually empty
};

std::string encode(const ErrorReply& message);
std::string encode(const JoinRequest& message);
std::string encode(const JoinReply& message);
std::string encode(const RenewRequest& message);
std::string encode(const RenewReply& message);
// Writes reports, oldest first, within kReportsPerHeartbeatMax and kJsonBytesMax; the others go with a later heartbeat,
// since reports that are not acknowledged are sent again.
std::string encode(const Heartbeat& message);
std::string encode(const HeartbeatReply& message);
std::string encode(const CheckpointReply& message);
std::string encode(const RoundReport& report);  // alone, in its form on disk

// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<ErrorReply> decode_error_reply(std::string_view json);
Result<JoinRequest> decode_join_request(std::string_view json);
Result<JoinReply> decode_join_reply(std::string_view json);
Result<RenewRequest> decode_renew_request(std::string_view json);
Result<RenewReply> decode_renew_reply(std::string_view json);
Result<Heartbeat> decode_heartbeat(std::string_view json);
Result<HeartbeatReply> decode_heartbeat_reply(std::string_view json);
Result<CheckpointReply> decode_checkpoint_reply(std::string_view json);
Result<RoundReport> decode_round_report(std::string_view json);

}  // namespace starling::wire
