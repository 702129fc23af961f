// The words of a member to the coordinator about a finished round, and about an evaluation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/peer_signature.h"
#include "shared/base/result.h"
#include "shared/protocol/audit.h"

namespace starling::wire {

constexpr std::size_t kReportsPerHeartbeatMax = 16;
constexpr std::size_t kComplaintsMax = 16;  // in a report
constexpr std::size_t kReceivedMax = 16;    // likewise

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

// The rate at which data of another member came in, in the best moments of the links with it.
struct ReceivedRate {
  std::int64_t member = 0;  // its place among the report's members
  double bytes_per_s = 0;
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
  Digest base_digest{};   // the state at which the group averaged; zero: an older program has kept the report
  Hash128 result_digest;  // digest of the averaged vector and its contributor sets
  Digest state_digest;    // the replica's after the step: the state of round + 1
  double loss = 0;        // the reporter's own mean training loss in the round, nats; NaN-free
  std::int64_t averaging_ms = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::vector<Complaint> complaints{};       // the reporter's own
  std::vector<ReceivedRate> received{};      // from some of the members; others report the rest
  std::optional<OwnTerms> own{};             // where rounds are audited
  std::optional<MeasuredParts> measured{};   // others' contributions to its own part, where rounds are audited
  std::optional<PeerSignature> signature{};  // the reporter's, over signed_text(); made when the report is sent
};

// The facts of a report that its sender signs.
struct SignedResult {
  RoundIndex round = 0;
  GroupId group;
  Digest base_digest;
  Hash128 result_digest;
  Digest state_digest;
};
inline SignedResult signed_result(const RoundReport& report) {
  return {report.round, report.group, report.base_digest, report.result_digest, report.state_digest};
}
// The bytes under the signature. They name their purpose and the run, so that no signature serves for anything else.
std::string signed_text(const RunId& run_id, const SignedResult& result);

// One member's measurement of the state at the start of `round`.
struct EvaluationReport {
  RoundIndex round = 0;
  double bits_per_byte = 0;
  std::int64_t bytes = 0;  // bytes that were predicted; 0: it could not measure it
  std::optional<double>
      accuracy{};  // the fraction of predictions that were right; none for a model that returns its loss only
};

std::string encode(const RoundReport& report);  // alone, in its form on disk
// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<RoundReport> decode_round_report(std::string_view json);

}  // namespace starling::wire
