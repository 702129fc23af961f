// Who averages with whom, and who reduces what: pure functions that the coordinator calls, and that every
// member calls alike when the coordinator is away.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/swarm/shares.h"
#include "shared/wire/group_info.h"

namespace starling::swarm {

struct PlanOptions {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
  std::int64_t vector_floats = 0;
  std::int64_t segment_floats = 0;    // 0: what passes the slowest line in 5 ms, encoded, if speeds are known, and
                                      // little beside the vector for all members together
  std::string codec = "fp32";         // of results
  std::string contribution_codec{};   // empty: as codec; narrower ones for those whose line is slow
  bool error_feedback = false;        // members make up for what their codecs leave out: very narrow ones may be used
  SampleCount target_batch_size = 0;  // 0: no member is demoted, however slow its line
  bool may_leave_out = false;         // who cannot follow the others' rounds; needs speeds that can be relied on
  bool autonomous = false;
  std::int64_t start_in_ms = 0;
  std::int64_t heartbeat_jitter_ms = 0;  // how late, beyond its batch, the plan may reach a member
  // How late members of earlier rounds began, nearly all of them, where all of these members have links from earlier
  // rounds; 0: not known, or some have none.
  std::int64_t arrivals_within_ms = 0;
  std::vector<wire::Endpoint> latecomers{};  // have a place if they come (MemberRole::late); none of the members
  std::uint64_t nonce = 0;                   // makes the group's id differ from an earlier plan of the same round
};

// A plan, and what it is expected to take.
struct RoundPlan {
  wire::GroupInfo group;
  std::vector<PeerId> left_out;  // of the members: they could not follow these rounds
  std::vector<double> ready_s;   // by rank: from the start until it holds the result
  double averaging_s = 0;        // until all hold it who are not deferred
};

// One group of `members` (in the order of their ids), roles, parts and codecs by choose_roles, begin_within_ms from
// the slowest micro-batch. Equal input gives an equal plan, id included, on every machine.
RoundPlan plan_round(std::span<const wire::MemberInfo> members, const PlanOptions& options);
// The group alone.
wire::GroupInfo plan_group(std::span<const wire::MemberInfo> members, const PlanOptions& options);

// Digest of everything in a plan that members must agree on (not the times).
Hash128 plan_digest(const wire::GroupInfo& group);

}  // namespace starling::swarm
