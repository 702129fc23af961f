#include "shared/wire/group_info.h"

#include <fmt/core.h>

#include <algorithm>

namespace starling::wire {
namespace {

constexpr std::size_t kRunIdBytesMax = 40;

Error invalid(std::string message) { return {ErrorCode::invalid_argument, "check group plan: " + std::move(message)}; }

Status check_numbers(const GroupInfo& group) {
  if (group.run_id.empty() || group.run_id.size() > kRunIdBytesMax) return invalid("run id is empty or too long");
  if (group.round < 0) return invalid(fmt::format("round {} is negative", group.round));
  if (group.vector_floats < 1 || group.vector_floats > kVectorFloatsMax) {
    return invalid(fmt::format("vector of {} floats (1 to {} allowed)", group.vector_floats, kVectorFloatsMax));
  }
  if (group.segment_floats < 1 || group.segment_floats > kSegmentFloatsMax) {
    return invalid(fmt::format("segments of {} floats (1 to {} allowed)", group.segment_floats, kSegmentFloatsMax));
  }
  for (const std::int64_t ms : {group.start_in_ms, group.begin_within_ms}) {
    if (ms < 0 || ms > kPlanWaitMsMax) return invalid(fmt::format("a wait of {} ms (0 to {})", ms, kPlanWaitMsMax));
  }
  if (Status known = codec_from_name(group.codec).status(); !known.ok()) return invalid(known.error().message);
  if (!carries_results(*codec_from_name(group.codec))) {
    return invalid(fmt::format("codec '{}' is for contributions, not for results", group.codec));
  }
  if (group.reason.size() > kReasonBytesMax) return invalid("its reason is too long");
  if (group.members.empty() || group.members.size() > kGroupMembersMax) {
    return invalid(fmt::format("{} members (1 to {} allowed)", group.members.size(), kGroupMembersMax));
  }
  return {};
}

Status check_members(const GroupInfo& group) {
  std::vector<PeerId> peers;
  peers.reserve(group.members.size());
  std::int64_t floats = 0;
  std::size_t deferred = 0;
  for (const GroupMember& member : group.members) {
    deferred += member.role == MemberRole::deferred ? 1 : 0;
    const Endpoint& endpoint = member.endpoint;
    peers.push_back(endpoint.peer);
    if (endpoint.host.size() > kHostBytesMax || endpoint.port < 0 || endpoint.port > 65535) {
      return invalid(fmt::format("address of member {} is out of range", endpoint.peer.brief()));
    }
    if (!endpoint.relay.is_zero() && endpoint.relay == endpoint.peer) {
      return invalid(fmt::format("member {} is said to be called at itself, as a relay", endpoint.peer.brief()));
    }
    if (Status known = codec_from_name(member.codec).status(); !member.codec.empty() && !known.ok()) {
      return invalid(fmt::format("member {}: {}", endpoint.peer.brief(), known.error().message));
    }
    if (member.part_floats < 0 || member.part_floats > group.vector_floats - floats) {
      return invalid(fmt::format("parts do not add up to {} floats", group.vector_floats));
    }
    if (member.part_floats > 0 && group.members.size() > 1 && !dialable(endpoint)) {
      return invalid(fmt::format("member {} owns a part but cannot be dialled", endpoint.peer.brief()));
    }
    if (member.part_floats > 0 && member.role == MemberRole::deferred) {
      return invalid(
          fmt::format("member {} owns a part but is deferred: nobody would wait for it", endpoint.peer.brief()));
    }
    floats += member.part_floats;
  }
  if (floats != group.vector_floats) {
    return invalid(fmt::format("parts add up to {} floats of {}", floats, group.vector_floats));
  }
  if (2 * deferred >= group.members.size()) {
    return invalid(fmt::format("{} of {} members are deferred, which most may not be", deferred, group.members.size()));
  }
  std::sort(peers.begin(), peers.end());
  const auto twice = std::adjacent_find(peers.begin(), peers.end());
  if (twice != peers.end()) return invalid(fmt::format("member {} appears twice", twice->brief()));
  return {};
}

}  // namespace

Codec contribution_codec(const GroupInfo& group, std::size_t rank) {
  const std::string& own = group.members[rank].codec;
  return codec_from_name(own.empty() ? group.codec : own).value();
}

std::size_t segment_count(const GroupInfo& group) {
  std::int64_t count = 0;
  for (const GroupMember& member : group.members) {
    count += (member.part_floats + group.segment_floats - 1) / group.segment_floats;
  }
  return static_cast<std::size_t>(count);
}

Status check_group(const GroupInfo& group) {
  STARLING_TRY(check_numbers(group));
  STARLING_TRY(check_members(group));
  const std::size_t segments = segment_count(group);
  if (segments > kSegmentsMax) return invalid(fmt::format("{} segments (at most {})", segments, kSegmentsMax));
  return {};
}

}  // namespace starling::wire
