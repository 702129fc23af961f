#include "shared/swarm/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "shared/swarm/reason.h"
#include "shared/swarm/roles.h"
#include "shared/wire/codec.h"

namespace starling::swarm {
namespace {

// The most that opening a link takes on a bad line: a connect, TLS, a retransmission or two.
constexpr std::int64_t kLinkSetupMs = 4000;
// Overhead beside the transfers: hearing of it, beginning, agreeing at the end.
constexpr double kOverheadSeconds = 0.3;
// Where the usual lines need less than this for a round, nobody is demoted: such short rounds, or the first frames of a
// newcomer, mostly measure latency.
constexpr double kDemotionWorthSeconds = 1;
// A member that begins later than earlier ones did by this factor, and by this much, is late: it gets the result all
// the same.
constexpr std::int64_t kArrivalMargin = 2;
constexpr std::int64_t kArrivalFloorMs = 1000;
// A micro-batch may take this much longer than the last ones did before its volunteer is left out.
constexpr double kBatchMargin = 1.5;

// The last segments of all owners reach a slow line together, and nothing else flows meanwhile: short ones keep that
// moment short.
constexpr double kSegmentSeconds = 0.005;
constexpr std::int64_t kPlannedSegmentFloatsMin = 1 << 12;
// Segments of each part: one of every other member's segments is under way to an owner, and all of these together
// should be little beside the vector.
constexpr std::int64_t kSegmentsPerMemberMin = 32;

bool known(double speed) { return std::isfinite(speed) && speed > 0; }

// The slower direction; one direction stands for both when the other was never measured. 0: unknown.
double speed_of(const Link& link) {
  if (known(link.upload) && known(link.download)) return std::min(link.upload, link.download);
  if (known(link.upload)) return link.upload;
  return known(link.download) ? link.download : 0;
}

std::int64_t segment_floats_for(std::span<const Link> links, std::int64_t vector_floats, double bytes_per_float) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const Link& link : links) slowest = speed_of(link) > 0 ? std::min(slowest, speed_of(link)) : slowest;
  const auto segments_min = static_cast<double>(kSegmentsPerMemberMin * std::max<std::int64_t>(1, std::ssize(links)));
  const double floats_max =
      std::min(slowest * kSegmentSeconds / bytes_per_float, static_cast<double>(vector_floats) / segments_min);
  const auto segments = [vector_floats](std::int64_t floats) {
    return static_cast<std::size_t>(vector_floats / floats);
  };
  std::int64_t floats = wire::kSegmentFloatsDefault;
  while (floats > kPlannedSegmentFloatsMin && static_cast<double>(floats) > floats_max &&
         segments(floats) < wire::kSegmentsMax / 4) {
    floats /= 2;
  }
  return floats;
}

// Collects the values that plans and their ids are made of, for hashing: fixed widths, lengths before texts.
class PlanBytes {
 public:
  void add(std::int64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void add(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] Hash128 hash() const { return hash128(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

PlanBytes agreed_bytes(const wire::GroupInfo& group) {
  PlanBytes bytes;
  bytes.add(std::string_view(group.run_id));
  bytes.add(group.round);
  bytes.add(group.state_digest.bytes);
  bytes.add(std::int64_t{group.autonomous ? 1 : 0});
  bytes.add(group.vector_floats);
  bytes.add(group.segment_floats);
  bytes.add(std::string_view(group.codec));
  bytes.add(static_cast<std::int64_t>(group.members.size()));
  for (const wire::GroupMember& member : group.members) {
    bytes.add(member.endpoint.peer.bytes);
    bytes.add(member.part_floats);
    bytes.add(std::string_view(member.codec));
    bytes.add(static_cast<std::int64_t>(member.role));
    bytes.add(std::int64_t{wire::direct(member.endpoint) ? 1 : wire::dialable(member.endpoint) ? 2 : 0});
  }
  return bytes;
}

GroupId group_id(const wire::GroupInfo& group, std::uint64_t nonce) {
  PlanBytes bytes = agreed_bytes(group);
  bytes.add(static_cast<std::int64_t>(nonce));
  GroupId id;
  static_assert(GroupId::kSize == Hash128::kSize);
  id.bytes = bytes.hash().bytes;
  return id;
}

std::int64_t begin_within_ms(std::span<const wire::MemberInfo> members, const PlanOptions& options) {
  double slowest_batch_s = 0;
  for (const wire::MemberInfo& member : members) {
    if (known(member.batch_seconds)) slowest_batch_s = std::max(slowest_batch_s, member.batch_seconds);
  }
  const double batch_ms = std::min(kBatchMargin * 1000 * slowest_batch_s, static_cast<double>(wire::kPlanWaitMsMax));
  std::int64_t wait_ms = kLinkSetupMs + options.heartbeat_jitter_ms + static_cast<std::int64_t>(batch_ms);
  if (options.arrivals_within_ms > 0) {
    wait_ms = std::min(wait_ms, kArrivalMargin * options.arrivals_within_ms + kArrivalFloorMs);
  }
  return std::clamp<std::int64_t>(wait_ms, 0, wire::kPlanWaitMsMax);
}

// Relayed bytes take the relay's line as well: members that are called through a relay own parts only in a group that
// nobody can dial directly.
std::vector<Volunteer> volunteers_of(std::span<const wire::MemberInfo> members) {
  const bool has_direct = std::any_of(members.begin(), members.end(),
                                      [](const wire::MemberInfo& member) { return wire::direct(member.endpoint); });
  std::vector<Link> links;
  for (const wire::MemberInfo& member : members) {
    const bool owner = has_direct ? wire::direct(member.endpoint) : wire::dialable(member.endpoint);
    links.push_back({member.upload_bytes_per_s, member.download_bytes_per_s, owner});
  }
  links = with_like_speeds(links);
  std::vector<Volunteer> volunteers;
  for (std::size_t i = 0; i < members.size(); ++i) {
    volunteers.push_back({links[i], members[i].samples_per_s, members[i].reliance, members[i].share_max});
  }
  // Somebody has to own the parts: if none of the possible owners is relied on, they are all alike.
  const bool relied_on = std::any_of(volunteers.begin(), volunteers.end(),
                                     [](const Volunteer& one) { return one.link.dialable && one.reliance > 0; });
  for (Volunteer& volunteer : volunteers) volunteer.reliance = relied_on ? volunteer.reliance : 1;
  return volunteers;
}

std::vector<std::string> names_of(std::span<const wire::MemberInfo> members) {
  std::vector<std::string> names;
  for (const wire::MemberInfo& member : members) names.push_back(member.endpoint.peer.brief());
  return names;
}

// Returns everything but members and id.
wire::GroupInfo frame_of(std::span<const wire::MemberInfo> members, const PlanOptions& options) {
  wire::GroupInfo group;
  group.run_id = options.run_id;
  group.round = options.round;
  group.state_digest = options.state_digest;
  group.autonomous = options.autonomous;
  group.vector_floats = options.vector_floats;
  group.segment_floats = options.segment_floats;
  group.codec = to_string(options.codec);
  group.start_in_ms = options.start_in_ms;
  group.begin_within_ms = begin_within_ms(members, options);
  return group;
}

// Returns nothing for a member that sends in the group's codec.
std::string name_of(const std::optional<wire::Codec>& codec) { return std::string(codec ? to_string(*codec) : ""); }

void seat_latecomers(RoundPlan& plan, const PlanOptions& options) {
  std::vector<std::pair<wire::GroupMember, double>> seats;
  for (std::size_t rank = 0; rank < plan.group.members.size(); ++rank) {
    seats.emplace_back(std::move(plan.group.members[rank]), plan.ready_s[rank]);
  }
  for (const wire::Endpoint& endpoint : options.latecomers) {
    seats.push_back({{endpoint, 0, name_of(options.contribution_codec), wire::MemberRole::late}, 0});
  }
  std::sort(seats.begin(), seats.end(),
            [](const auto& a, const auto& b) { return a.first.endpoint.peer < b.first.endpoint.peer; });
  plan.group.members.clear();
  plan.ready_s.clear();
  for (auto& [member, ready_s] : seats) {
    plan.group.members.push_back(std::move(member));
    plan.ready_s.push_back(ready_s);
  }
}

}  // namespace

RoundPlan plan_round(std::span<const wire::MemberInfo> members, const PlanOptions& options) {
  std::vector<wire::MemberInfo> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const wire::MemberInfo& a, const wire::MemberInfo& b) { return a.endpoint.peer < b.endpoint.peer; });
  const std::vector<Volunteer> volunteers = volunteers_of(sorted);
  const wire::Codec widest = options.contribution_codec.value_or(options.codec);
  const std::vector<CodecCost> codecs = narrower_codecs(widest, options.error_feedback);
  RoleOptions wanted;
  wanted.vector_floats = static_cast<double>(options.vector_floats);
  wanted.target_batch = static_cast<double>(options.target_batch_size);
  wanted.codecs = codecs;
  wanted.result_bytes = narrower_codecs(options.codec, false).front().bytes_per_float;
  wanted.overhead_s = kOverheadSeconds;
  wanted.may_leave_out = options.may_leave_out;
  // An owner contributes the losses of its encoding in the next round.
  wanted.may_only_reduce = wire::carries_results(options.codec);
  RoleChoice choice = everybody_alike(volunteers, wanted);
  if (choice.unhurried_s >= kDemotionWorthSeconds) choice = choose_roles(volunteers, wanted);
  RoundPlan plan;
  plan.averaging_s = choice.averaging_s;
  plan.group = frame_of(sorted, options);
  plan.group.reason = explain(names_of(sorted), volunteers, wanted, choice);
  std::vector<double> shares;
  for (const Duty& duty : choice.duties) shares.push_back(duty.left_out ? 0 : duty.share);
  const std::vector<std::int64_t> parts = split_vector(options.vector_floats, shares);
  std::vector<Link> links;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Duty& duty = choice.duties[i];
    if (duty.left_out) {
      plan.left_out.push_back(sorted[i].endpoint.peer);
      continue;
    }
    links.push_back(volunteers[i].link);
    plan.ready_s.push_back(duty.ready_s);
    wire::GroupMember& member = plan.group.members.emplace_back();
    member.endpoint = sorted[i].endpoint;
    member.part_floats = parts[i];
    member.codec = name_of(duty.codec > 0 ? codecs[duty.codec].codec : options.contribution_codec);
    member.role = duty.role;
  }
  if (options.segment_floats <= 0) {
    const double widest_bytes = std::max(codecs.front().bytes_per_float, wanted.result_bytes);
    plan.group.segment_floats = segment_floats_for(links, options.vector_floats, widest_bytes);
  }
  if (!options.latecomers.empty()) seat_latecomers(plan, options);
  plan.group.id = group_id(plan.group, options.nonce);
  return plan;
}

wire::GroupInfo plan_group(std::span<const wire::MemberInfo> members, const PlanOptions& options) {
  return plan_round(members, options).group;
}

Hash128 plan_digest(const wire::GroupInfo& group) {
  PlanBytes bytes = agreed_bytes(group);
  bytes.add(group.id.bytes);
  return bytes.hash();
}

}  // namespace starling::swarm
