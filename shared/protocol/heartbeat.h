// The call that a member makes every few seconds: its condition and all that it has to tell, in one message. Its answer
// is in heartbeat_reply.h.
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
#include "shared/protocol/compute_device.h"
#include "shared/protocol/limits.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/round_trouble.h"
#include "shared/protocol/states.h"

namespace starling::wire {

constexpr double kJitterMax = 10;  // standard deviation over mean
constexpr double kRoundTripMaxS = 60;
constexpr std::size_t kTrainerFailureBytesMax = 300;

// Proof that the sender has the floats of its state_digest (state::holding_proof).
struct HoldingProof {
  Hash128 challenge;  // the last reply's
  Digest digest;
};

// A member's grounds to believe others, or not to, and theirs to believe it.
struct TrustMatters {
  std::vector<RoundTrouble> troubles{};   // the last ones that no reply has followed yet
  bool state_proof_wanted = false;        // the reply's state has to be proven
  std::optional<HoldingProof> holding{};  // unset: it holds no state, or no reply has come yet
  AuditAnswers audits{};
};

// How others can call a member, and how it helps them to be called.
struct RelayPart {
  PeerId posted_at;        // the relay at which others can call this member now; zero: none
  double bytes_per_s = 0;  // rate that it offers to relay for others; 0: nothing
};

// A member's computations.
struct Computing {
  std::string failure{};  // why its trainer fails, again and again, for the operator: plain text; empty: it does not
  // The device of its last trainer, for the operator; where the volunteer's rules leave a card alone, it says only that
  // they do. Unset: no trainer of this run was ready yet.
  std::optional<ComputeDevice> device{};
  // In a run whose model is cut into cells: its memory for them, and what others have computed for it.
  std::optional<CellOffer> cells{};
  std::optional<CallReceipts> receipts{};  // unset: nothing new
};

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
  double round_trip_s = 0;  // the usual one to members that it has links with; 0: not known yet
  RelayPart relaying;
  Computing computing;
  std::vector<RoundReport> reports;  // not acknowledged yet, oldest first
  std::optional<EvaluationReport> evaluation;
  // Where samples are leased: this process (random, not 0; an earlier one's leases are not used again), and the number
  // of its next draw. Both stay unchanged until a reply has come, so a lost call loses nothing.
  std::int64_t process = 0;
  SampleCount next_draw = 0;
  TrustMatters trust;
};

// Writes reports, oldest first, within kReportsPerHeartbeatMax and kJsonBytesMax; the others go with a later heartbeat,
// since reports that are not acknowledged are sent again.
std::string encode(const Heartbeat& message);

// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<Heartbeat> decode_heartbeat(std::string_view json);

}  // namespace starling::wire
