// The plan of one averaging: its members and their parts. The coordinator deals it; while the coordinator is away,
// every member computes it alike (shared/swarm/plan.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/wire/codec.h"
#include "shared/wire/limits.h"

namespace starling::wire {

constexpr std::int64_t kSegmentFloatsMax = 1 << 18;      // 1 MiB: the largest frame between peers
constexpr std::int64_t kSegmentFloatsDefault = 1 << 14;  // 64 KiB, which stay in a core's cache
constexpr std::size_t kSegmentsMax = 1 << 20;            // a bit for each fits a control frame
constexpr std::size_t kHostBytesMax = 45;                // the longest IPv6 literal
constexpr std::int64_t kPlanWaitMsMax = 3'600'000;       // limit for start_in_ms and begin_within_ms
constexpr std::size_t kReasonBytesMax = 240;
constexpr std::size_t kGridColumnsMax = 256;

// The address at which a peer can be called. An empty host or port 0: nowhere, others wait for its call.
struct Endpoint {
  PeerId peer;
  std::string host;  // IP literal, never a name to look up
  int port = 0;
  PeerId relay = {};  // unless zero, this relay listens at host and port, and connects callers with the peer
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// The facts about a member that planning needs.
struct MemberInfo {
  Endpoint endpoint;
  int lane = 0;
  double samples_per_s = 0;
  double batch_seconds = 0;
  double upload_bytes_per_s = 0;  // 0: unknown
  double download_bytes_per_s = 0;
  double reliance = 1;   // 0 … 1: how far it has done its share in earlier plans
  double share_max = 1;  // 0 … 1: owns no more of the vector, unless nobody else could
};

// A member's role in a round.
enum class MemberRole : std::uint8_t {
  full,         // contributes and may own a part
  client_only,  // contributes; nobody can dial it, so it owns no part
  auxiliary,    // owns a part and contributes nothing, however much it has computed
  deferred,     // contributes, owns no part, gets the result late, at its line's speed: nobody waits for that
  late,         // was absent when the plan was made: nobody waits for it, but if it comes it may have the result
};
std::string_view to_string(MemberRole role);

// A member's place in a group is its rank: its index in GroupInfo::members.
struct GroupMember {
  Endpoint endpoint;
  std::int64_t part_floats = 0;  // owns this many coordinates, right after those of lower ranks; may be 0
  std::string codec{};           // its contributions' codec: narrower where its line is slow. Empty: the group's
  MemberRole role = MemberRole::full;
  // Members with equal numbers above 0 belong to one account, and have one vote together; 0: a vote of its own. So
  // nobody outvotes the others by bringing more computers.
  std::uint32_t voter = 0;
  // The most samples that it may bring: it scales its sum down to them, and a begin with more is refused. 0: only the
  // limit for everybody holds (swarm/plausible.h). Not part of the plan's digest: older programs do not know it.
  SampleCount weight_max = 0;
};

// The rest of a round of several groups, for a member of one of its columns (docs/averaging.md, "Grids"). Members
// average within their column; then each column's heads meet the other columns' heads, and average the columns'
// averages; then each column spreads the result that its heads have brought. All three are averagings of a GroupInfo
// each.
struct GridPlan {
  struct Head {
    GroupMember member;
    std::uint32_t column = 0;
  };
  struct Seat {
    std::int64_t part_floats = 0;  // its part of the vector that is spread
    bool head = false;
  };
  GroupId id;  // the whole round's id, which members report
  std::uint32_t column = 0;
  std::uint32_t columns = 0;
  GroupId heads_id;
  std::int64_t heads_within_ms = 0;  // from a head's own start there: others' columns may take longer
  std::vector<Head> heads;           // by rank; sent to heads only
  GroupId spread_id;
  std::int64_t spread_within_ms = 0;  // heads come when they are done
  std::vector<Seat> spread;           // by rank in the column
};

struct GroupInfo {
  GroupId id;
  RunId run_id;
  RoundIndex round = 0;
  // the state of every replica that may take part: gradients at other parameters cannot be averaged
  Digest state_digest;
  bool autonomous = false;
  std::int64_t vector_floats = 0;  // part_floats add up to this
  std::int64_t segment_floats = kSegmentFloatsDefault;
  std::string codec = "fp32";            // codec of results, equal bytes for everybody, and of contributions
  std::int64_t start_in_ms = 0;          // from the moment of the reply
  std::int64_t begin_within_ms = 10000;  // a member that has not begun this long after the start is left out
  std::string reason;                    // for people: the bound of the averaging, and the planner's answer to it
  std::vector<GroupMember> members;
  std::optional<GridPlan> grid{};  // this group is a column
  // The commitment to the number that opens the round's audits (audit.h); zero: nothing is audited. Not part of the
  // plan's digest.
  Digest audit_commitment{};
};

// dialable: it can be called at all. direct: it can be called without a relay.
inline bool dialable(const Endpoint& endpoint) { return !endpoint.host.empty() && endpoint.port != 0; }
inline bool direct(const Endpoint& endpoint) { return dialable(endpoint) && endpoint.relay.is_zero(); }

// Bytes that two members may pass through a relay in a round: all frames that they can have for each other in an
// averaging (at most the vector each way), twice, because frames are repeated when others are lost, and a state given
// to a newcomer.
constexpr std::int64_t relay_bytes_per_round(std::int64_t vector_floats) {
  return 32 * vector_floats + (std::int64_t{16} << 20);
}

// The codec in which a member's contributions travel, for a plan that passes check_group.
Codec contribution_codec(const GroupInfo& group, std::size_t rank);

// The later groups of a column's plan: the group of all heads (it must name them), and the column again, where only
// heads contribute. Their segments are equal pieces of the vector for every column, and their results travel in one
// codec, so that all columns end with equal bits.
GroupInfo heads_group(const GroupInfo& column);
GroupInfo spread_group(const GroupInfo& column);
// Everybody that a member of this group has to do with: its members by rank, then heads of other columns.
std::vector<Endpoint> contacts(const GroupInfo& group);
// True if frames with this id belong to a round of that plan.
bool has_stage(const GroupInfo& group, const GroupId& id);

// Units in flight of a plan whose numbers are in range: every part is cut by itself.
std::size_t segment_count(const GroupInfo& group);

// Returns invalid_argument, with the reason, for duplicate members, parts that do not add up, a part of a member that
// others cannot dial, or that is deferred or late, half of the others or more deferred, an unknown codec, a column
// whose later groups do not fit it or cut segments where other columns do not, or anything beyond a limit. A plan that
// passes can be run without further checks.
Status check_group(const GroupInfo& group);

}  // namespace starling::wire
