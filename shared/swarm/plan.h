// Who averages with whom, and who reduces what: pure functions that the coordinator calls, and that every
// member calls alike when the coordinator is away.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/wire/group_info.h"

namespace starling::swarm {

// What a member's link allows, in bytes per second; 0 means not measured yet.
struct Link {
  double upload = 0;
  double download = 0;
  bool dialable = true;  // a member that nobody can dial owns no part
};

// Shares of the vector (summing to 1, in the order of `links`) that minimise the time of a butterfly
// all-reduce. A member that owns share s sends and receives 1 + (N-2)s vectors, so with b = min(up, down)
// the time is max_i (1 + (N-2) s_i) / b_i. DeDLOC (arXiv 2106.10207, section 3.2) solves this as a linear
// programme; for one speed a member it has a closed form: for the members A with positive shares,
//   xi = (N - 2 + |A|) / sum_A b,   s_i = max(0, (xi b_i - 1) / (N - 2)).
// Unknown speeds count as the median of the known ones. Two members share in proportion to speed.
std::vector<double> allocate_shares(std::span<const Link> links);

// Whole coordinates out of shares: largest remainders, so that the sum is exactly vector_floats.
std::vector<std::int64_t> split_vector(std::int64_t vector_floats, std::span<const double> shares);

struct PlanOptions {
  RunId run_id;
  RoundIndex round = 0;
  Digest state_digest;
  std::int64_t vector_floats = 0;
  std::int64_t segment_floats = 0;  // 0: what passes the slowest line in a hundredth of a second, if speeds are known
  std::string codec = "fp32";
  std::string contribution_codec{};  // empty: as codec
  bool autonomous = false;
  std::int64_t start_in_ms = 0;
  std::int64_t heartbeat_jitter_ms = 0;  // how late, beyond its batch, the plan may reach a member
  std::uint64_t nonce = 0;               // makes the group's id differ from an earlier plan of the same round
};

// One group of all `members` (in the order of their ids), parts by allocate_shares, begin_within_ms from
// the slowest micro-batch. Equal input gives an equal plan, id included, on every machine.
wire::GroupInfo plan_group(std::span<const wire::MemberInfo> members, const PlanOptions& options);

// Digest of everything in a plan that members must agree on (not the times).
Hash128 plan_digest(const wire::GroupInfo& group);

}  // namespace starling::swarm
