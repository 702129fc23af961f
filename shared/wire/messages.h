// Everything a volunteer's daemon and the coordinator say to each other, over HTTPS, as JSON.
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
#include "shared/wire/group_info.h"
#include "shared/wire/run_manifest.h"

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
constexpr std::size_t kRelayClientsMax = 16;                      // of one volunteer's relay
constexpr std::int64_t kMessageCountMax = std::int64_t{1} << 48;  // rounds, samples, bytes, milliseconds
constexpr double kMessageRateMax = 1e15;                          // samples or bytes a second; credit
constexpr double kJitterMax = 10;                                 // standard deviation over mean
constexpr double kRoundTripMaxS = 60;

struct ErrorReply {
  std::string code;     // to_string(ErrorCode)
  std::string message;  // for people: what was tried, why it failed, what to do
};

struct JoinRequest {
  int protocol = kProtocolVersion;
  std::string client_version;
  std::string invite;        // token of the join link; empty where the project is open
  std::string display_name;  // shown on the leaderboard
  std::string csr_pem;       // PKCS#10 with the host's Ed25519 key
  // With a password: that of the account of this name, or of a new one; with an address instead of a name, of the
  // account whose it is.
  std::string password = {};
  std::string email = {};  // of a new account; may be empty
  // The computer's own secret for this project: whoever has its key alone gets no certificate. Empty: it has none, as
  // those of before had.
  std::string device_token = {};
};
struct JoinReply {
  AccountId account_id = 0;
  PeerId peer_id;
  std::string project_name;
  std::string certificate_pem;      // of this host, short-lived
  std::string manifest_public_key;  // PEM; pinned by the client from now on
  std::int64_t server_unix_ms = 0;  // lets the client notice a wrong clock
  std::string display_name = {};    // of the account; the project may know it by another name than was asked for
};

struct RenewRequest {
  std::string csr_pem;
  std::string device_token = {};  // the one that it joined with
};
struct RenewReply {
  std::string certificate_pem;
  std::int64_t server_unix_ms = 0;
};

// What a member is doing. Only `training` and `averaging` members are planned into a round; one says that it is
// `evaluating` only to a coordinator that has asked for it.
enum class MemberPhase : std::uint8_t { joining, downloading, training, averaging, paused, leaving, evaluating };
std::string_view to_string(MemberPhase phase);

// How a member did not keep what the plan expected of it.
enum class Fault : std::uint8_t {
  absent,    // did not begin in time
  gone,      // its link broke
  silent,    // nothing came from it any more, or it heard nobody
  slow,      // much slower than the others, or alive without progress
  nonsense,  // what it sent breaks the protocol, or its result differs
};
std::string_view to_string(Fault fault);

// One member's word about another of its group: what it saw itself, not what others told.
struct Complaint {
  PeerId peer;
  Fault fault = Fault::gone;
};

// What one averaging group did, told by a member that finished the round. Reports of one group agree
// bit for bit; the coordinator credits what the majority of the group's survivors says.
struct Contribution {
  PeerId peer;
  SampleCount samples = 0;  // averaged into the result: weight x share of coordinates that carried it
  SampleCount draw = 0;  // of the first of these samples, as the peer told its group (SampleLease); 0: none is leased
};
// What a member of a grid says beside its own column's contributions.
struct GridShare {
  std::uint32_t column = 0;           // its own
  std::vector<SampleCount> accepted;  // by column: samples that the heads have averaged into the result
};
struct RoundReport {
  RoundIndex round = 0;
  GroupId group;                // of a grid: the whole grid's id
  bool autonomous = false;      // planned by the members while the coordinator was away
  std::vector<PeerId> members;  // as planned; of a grid, of the reporter's column
  std::vector<Contribution> contributions;
  std::optional<GridShare> grid;
  Hash128 result_digest;  // of the averaged vector and its contributor sets
  Digest state_digest;    // of the replica after the step: the state of round + 1
  double loss = 0;        // the reporter's own mean training loss in the round, nats; NaN-free
  std::int64_t averaging_ms = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::vector<Complaint> complaints{};  // the reporter's own
};

// What a member measured of the state at the start of `round`.
struct EvaluationReport {
  RoundIndex round = 0;
  double bits_per_byte = 0;
  std::int64_t bytes = 0;  // that were predicted; 0: it could not measure it
  std::optional<double>
      accuracy{};  // the share of predictions that were right; none for a model that tells its loss only
};

// Samples that only this member may train on, until the round `last_round` is over: `count` consecutive places of an
// epoch's order (epochs.h), from `first` on. A member's draws are numbered through all of its leases: this one's have
// the numbers from `number` (at least 1) on. It draws in their order, and no number twice. Which of them count is told
// by its group: a gradient of samples averaged in whose first draw is d stands for the draws from d to d + samples - 1.
// Those that are left are drawn again, by whomever, once last_round is over.
struct SampleLease {
  SampleCount number = 0;
  std::int64_t epoch = 0;
  std::int64_t first = 0;
  SampleCount count = 0;
  RoundIndex last_round = 0;
  friend bool operator==(const SampleLease&, const SampleLease&) = default;
};
constexpr std::size_t kLeasesMax = 64;  // of one member at a time

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
  int listen_port = 0;                 // of the peer transport; 0: cannot be dialled
  double upload_bytes_per_s = 0;       // measured in earlier rounds; 0: not known yet
  double download_bytes_per_s = 0;
  double round_trip_s = 0;           // to the usual one of those that it has links with; 0: not known yet
  PeerId posted_at;                  // the relay at which others can call this member now; zero: none
  double relay_bytes_per_s = 0;      // it offers to relay so much for others; 0: nothing
  std::vector<RoundReport> reports;  // not acknowledged yet, oldest first
  std::optional<EvaluationReport> evaluation;
  // Where samples are leased: this process (random, not 0; an earlier one's leases are not used again), and the number
  // of its next draw. Both stay as they are until they are heard, so a lost call loses nothing.
  std::int64_t process = 0;
  SampleCount next_draw = 0;
};

// A copy of the state at the start of a round that the coordinator keeps and serves, as an artefact: the floats as they
// lie in memory, little-endian.
struct Checkpoint {
  RoundIndex round = 0;
  Digest state_digest;
  Artefact file;
};
constexpr std::size_t kCheckpointPieceBytes = 96 * 1024;
struct CheckpointReply {
  std::int64_t bytes = 0;  // that the coordinator has from the start on; the next piece begins there
};

enum class RunState : std::uint8_t { created, running, paused, complete };
std::string_view to_string(RunState state);

// Whether others can dial a member, as the coordinator found out by dialling it: at the address its heartbeats come
// from, and the port they name.
enum class Reachability : std::uint8_t { unknown, reachable, blocked };
std::string_view to_string(Reachability reachability);

// Everything that is due, in one answer.
struct HeartbeatReply {
  RunState run_state = RunState::created;
  RoundIndex round = 0;               // the round the swarm is working on
  Digest state_digest;                // of the replicas at its start; zero: nobody holds a state yet
  int lane = 0;                       // this member's sample lane
  std::vector<SampleLease> leases{};  // all that this process holds, by number
  SampleCount target_batch_size = 0;
  SampleCount samples_accumulated = 0;  // toward `round`, by all members
  double swarm_samples_per_s = 0;
  int swarm_size = 0;
  // Every report of a round below this is settled; drop it. Beyond `round` it says that the member's results from
  // `round` on are void, as their groups came to no decision: it must return to state_digest.
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
  SampleCount credited_samples = 0;  // of this account in this run, as the ledger has it
  double credit = 0;
  Reachability reachability = Reachability::unknown;
  std::string address;            // of this member, as the coordinator sees it
  std::optional<Endpoint> relay;  // where this member, which nobody can dial, should wait for calls
  std::vector<PeerId> relay_for;  // members that wait for calls at this one
  std::int64_t relay_bytes = 0;   // each of them and another may pass so many in a round
  std::string notice;             // for the volunteer, e.g. why samples were refused; usually empty
};

std::string encode(const ErrorReply& message);
std::string encode(const JoinRequest& message);
std::string encode(const JoinReply& message);
std::string encode(const RenewRequest& message);
std::string encode(const RenewReply& message);
// Writes as many reports, oldest first, as kReportsPerHeartbeatMax and kJsonBytesMax allow; the others go
// with a later heartbeat, since what is not acknowledged is sent again.
std::string encode(const Heartbeat& message);
std::string encode(const HeartbeatReply& message);
std::string encode(const CheckpointReply& message);
std::string encode(const RoundReport& report);  // alone, as it is kept on disk

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
