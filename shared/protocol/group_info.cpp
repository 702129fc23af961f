#include "shared/protocol/group_info.h"

#include <fmt/core.h>

#include <algorithm>

namespace starling::wire {
namespace {

constexpr std::size_t kRunIdBytesMax = 40;

Error invalid(std::string message) { return {ErrorCode::invalid_argument, "check group plan: " + std::move(message)}; }

bool not_waited_for(MemberRole role) { return role == MemberRole::deferred || role == MemberRole::late; }

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
  std::size_t late = 0;
  for (const GroupMember& member : group.members) {
    deferred += member.role == MemberRole::deferred ? 1 : 0;
    late += member.role == MemberRole::late ? 1 : 0;
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
    if (member.part_floats > 0 && not_waited_for(member.role)) {
      return invalid(fmt::format("member {} owns a part but is {}: nobody would wait for it", endpoint.peer.brief(),
                                 to_string(member.role)));
    }
    floats += member.part_floats;
  }
  if (floats != group.vector_floats) {
    return invalid(fmt::format("parts add up to {} floats of {}", floats, group.vector_floats));
  }
  if (2 * deferred >= group.members.size() - late) {
    return invalid(
        fmt::format("{} of {} members are deferred, which most may not be", deferred, group.members.size() - late));
  }
  std::sort(peers.begin(), peers.end());
  const auto twice = std::adjacent_find(peers.begin(), peers.end());
  if (twice != peers.end()) return invalid(fmt::format("member {} appears twice", twice->brief()));
  return {};
}

// True if every part begins at a multiple of the segments' length, so that all cut the vector alike.
bool is_aligned(const GroupInfo& group) {
  std::int64_t begin = 0;
  for (const GroupMember& member : group.members) {
    if (member.part_floats > 0 && begin % group.segment_floats != 0) return false;
    begin += member.part_floats;
  }
  return true;
}

// Returns a group with everything that all later groups of a column share with it.
GroupInfo stage_of(const GroupInfo& column) {
  GroupInfo stage = column;
  stage.grid.reset();
  stage.members.clear();
  stage.start_in_ms = 0;
  stage.reason.clear();
  return stage;
}

Status check_heads(const GroupInfo& column) {
  const GridPlan& grid = *column.grid;
  for (const GridPlan::Head& head : grid.heads) {
    if (head.column >= grid.columns) return invalid("a head of a column that does not exist");
    if (not_waited_for(head.member.role)) return invalid("nobody would wait for a head");
  }
  for (std::size_t rank = 0; rank < column.members.size(); ++rank) {
    const PeerId& peer = column.members[rank].endpoint.peer;
    const bool listed = std::any_of(grid.heads.begin(), grid.heads.end(), [&](const GridPlan::Head& head) {
      return head.member.endpoint.peer == peer && head.column == grid.column;
    });
    if (listed != grid.spread[rank].head) return invalid("its heads are not those of its column");
  }
  const GroupInfo heads = heads_group(column);
  STARLING_TRY(check_group(heads));
  return is_aligned(heads) ? Status() : invalid("the heads' parts cut segments");
}

Status check_grid(const GroupInfo& column) {
  const GridPlan& grid = *column.grid;
  if (!carries_results(*codec_from_name(column.codec))) {
    return invalid(fmt::format("codec '{}' leaves out too much of what a grid averages again", column.codec));
  }
  if (grid.columns < 2 || grid.columns > kGridColumnsMax || grid.column >= grid.columns) {
    return invalid(fmt::format("column {} of {} (2 to {} allowed)", grid.column, grid.columns, kGridColumnsMax));
  }
  if (grid.spread.size() != column.members.size()) return invalid("not all of a column have a seat in what is spread");
  const bool patient = std::all_of(column.members.begin(), column.members.end(),
                                   [](const GroupMember& member) { return !not_waited_for(member.role); });
  if (!patient) return invalid("nobody would wait for a member of a column");
  if (std::none_of(grid.spread.begin(), grid.spread.end(), [](const auto& seat) { return seat.head; })) {
    return invalid("a column has no head");
  }
  const GroupInfo spread = spread_group(column);
  STARLING_TRY(check_group(spread));
  if (!is_aligned(spread)) return invalid("the parts of what is spread cut segments");
  return grid.heads.empty() ? Status() : check_heads(column);
}

}  // namespace

GroupInfo heads_group(const GroupInfo& column) {
  GroupInfo heads = stage_of(column);
  heads.id = column.grid->heads_id;
  heads.begin_within_ms = column.grid->heads_within_ms;
  for (const GridPlan::Head& head : column.grid->heads) heads.members.push_back(head.member);
  return heads;
}

GroupInfo spread_group(const GroupInfo& column) {
  GroupInfo spread = stage_of(column);
  spread.id = column.grid->spread_id;
  spread.begin_within_ms = column.grid->spread_within_ms;
  for (std::size_t rank = 0; rank < column.members.size(); ++rank) {
    const GridPlan::Seat& seat = column.grid->spread[rank];
    GroupMember& member = spread.members.emplace_back(column.members[rank]);
    member.part_floats = seat.part_floats;
    member.codec.clear();
    member.weight_max = 0;  // a head brings its column's samples
    member.role = seat.head ? MemberRole::full : MemberRole::auxiliary;
  }
  return spread;
}

std::vector<Endpoint> contacts(const GroupInfo& group) {
  std::vector<Endpoint> all;
  for (const GroupMember& member : group.members) all.push_back(member.endpoint);
  if (!group.grid) return all;
  for (const GridPlan::Head& head : group.grid->heads) {
    if (head.column != group.grid->column) all.push_back(head.member.endpoint);
  }
  return all;
}

bool has_stage(const GroupInfo& group, const GroupId& id) {
  return id == group.id || (group.grid && (id == group.grid->heads_id || id == group.grid->spread_id));
}

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
  return group.grid ? check_grid(group) : Status();
}

}  // namespace starling::wire
