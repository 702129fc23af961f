// Groups, roles and parts of an averaging: pure functions that the coordinator calls, and that every member calls alike
// when the coordinator is away.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/protocol/group_info.h"
#include "shared/swarm/shares.h"
#include "shared/wire/codec.h"

namespace starling::swarm {

// Everything about a round besides its members. All who plan it must pass equal values, or their plans differ.
struct PlanOptions {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
  std::int64_t vector_floats = 0;
  // 0: a length that passes the slowest line in 5 ms, encoded, if speeds are known, and that is little beside the
  // vector for all members together
  std::int64_t segment_floats = 0;
  wire::Codec codec = wire::Codec::fp32;            // codec of results
  std::optional<wire::Codec> contribution_codec{};  // none: like codec; members with a slow line may get a narrower one
  bool error_feedback = false;        // members make up for the losses of their codecs: very narrow ones may be used
  SampleCount target_batch_size = 0;  // 0: no member is demoted, however slow its line
  // members that cannot follow the others' rounds may be left out; needs speeds that can be relied on
  bool may_leave_out = false;
  bool autonomous = false;
  std::int64_t start_in_ms = 0;
  std::int64_t heartbeat_jitter_ms = 0;  // how late, beyond its batch, the plan may reach a member
  // How late members of earlier rounds began, nearly all of them, where all of these members have links from earlier
  // rounds; 0: not known, or some have none.
  std::int64_t arrivals_within_ms = 0;
  std::vector<wire::Endpoint> latecomers{};  // have a place if they come (MemberRole::late); none of the members
  std::uint64_t nonce = 0;                   // makes the group's id differ from an earlier plan of the same round
};

// A plan, and its expected times.
struct RoundPlan {
  wire::GroupInfo group;
  std::vector<PeerId> left_out;  // members that could not follow these rounds
  std::vector<double> ready_s;   // by rank: time from the start until the member holds the result
  double averaging_s = 0;        // time until all members that are not deferred hold it
};

// Plans one group of `members` (in the order of their ids), roles, parts and codecs by choose_roles, begin_within_ms
// from the slowest micro-batch. Equal input gives an equal plan, id included, on every machine.
RoundPlan plan_round(std::span<const wire::MemberInfo> members, const PlanOptions& options);
// Returns the group of plan_round alone.
wire::GroupInfo plan_group(std::span<const wire::MemberInfo> members, const PlanOptions& options);

// Digest of everything in a plan that members must agree on (not the times).
Hash128 plan_digest(const wire::GroupInfo& group);

}  // namespace starling::swarm
