#include "shared/protocol/group_info.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::wire;

namespace {

GroupInfo valid_group() {
  GroupInfo group;
  group.run_id = "tiny-gpt";
  group.vector_floats = 1000;
  group.segment_floats = 64;
  for (const std::int64_t part : {500, 437, 63, 0}) {
    GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(group.members.size() + 1);
    member.endpoint.host = "192.0.2.1";
    member.endpoint.port = part > 0 ? 4000 : 0;
    member.part_floats = part;
    group.members.push_back(member);
  }
  return group;
}

template <typename Change>
bool refused(Change change) {
  GroupInfo group = valid_group();
  REQUIRE(check_group(group).ok());
  change(group);
  const Status status = check_group(group);
  if (!status.ok()) CHECK(status.error().code == ErrorCode::invalid_argument);
  return !status.ok();
}

}  // namespace

TEST_CASE("a sound plan passes, whoever cannot be dialled owns nothing") { CHECK(check_group(valid_group()).ok()); }

TEST_CASE("each part is cut into segments by itself") {
  // 500 / 64 -> 8, 437 / 64 -> 7, 63 / 64 -> 1, 0 -> 0
  CHECK(segment_count(valid_group()) == 16);
}

TEST_CASE("a plan that could not be run is refused") {
  CHECK(refused([](GroupInfo& g) { g.members[1].endpoint.peer = g.members[0].endpoint.peer; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].part_floats -= 1; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].part_floats += 1; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].part_floats = -500; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].part_floats = INT64_MAX; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].endpoint.port = 0; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].endpoint.host = ""; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].endpoint.host = std::string(46, '1'); }));
  CHECK(refused([](GroupInfo& g) { g.members[0].endpoint.port = 65536; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].endpoint.relay = g.members[0].endpoint.peer; }));
  CHECK(refused([](GroupInfo& g) { g.members.clear(); }));
  CHECK(refused([](GroupInfo& g) { g.members.resize(kGroupMembersMax + 1); }));
  CHECK(refused([](GroupInfo& g) { g.codec = "zip"; }));
  CHECK(refused([](GroupInfo& g) { g.members[3].codec = "zip"; }));
  CHECK(refused([](GroupInfo& g) { g.members[0].role = MemberRole::deferred; }));  // a deferred member that owns a part
  CHECK(refused([](GroupInfo& g) { g.reason = std::string(kReasonBytesMax + 1, 'x'); }));
  CHECK(refused([](GroupInfo& g) { g.run_id = ""; }));
  CHECK(refused([](GroupInfo& g) { g.round = -1; }));
  CHECK(refused([](GroupInfo& g) { g.vector_floats = 0; }));
  CHECK(refused([](GroupInfo& g) { g.vector_floats = kVectorFloatsMax + 1; }));
  CHECK(refused([](GroupInfo& g) { g.segment_floats = 0; }));
  CHECK(refused([](GroupInfo& g) { g.segment_floats = kSegmentFloatsMax + 1; }));
  CHECK(refused([](GroupInfo& g) { g.start_in_ms = -1; }));
  CHECK(refused([](GroupInfo& g) { g.begin_within_ms = kPlanWaitMsMax + 1; }));
}

TEST_CASE("fewer than half of the members may be deferred") {
  GroupInfo group = valid_group();
  group.members[0].part_floats += group.members[2].part_floats;
  group.members[2].part_floats = 0;
  group.members[3].role = MemberRole::deferred;
  CHECK(check_group(group).ok());
  group.members[2].role = MemberRole::deferred;
  CHECK_FALSE(check_group(group).ok());
}

TEST_CASE("a member contributes in the group's codec unless it has one of its own") {
  GroupInfo group = valid_group();
  group.codec = "fp16";
  group.members[3].codec = "int8";
  REQUIRE(check_group(group).ok());
  CHECK(contribution_codec(group, 0) == Codec::fp16);
  CHECK(contribution_codec(group, 3) == Codec::int8);
}

TEST_CASE("a plan of more segments than an inventory can list is refused") {
  CHECK(refused([](GroupInfo& g) {
    g.vector_floats = kVectorFloatsMax;
    g.segment_floats = 1 << 11;
    g.members[0].part_floats = kVectorFloatsMax - 500;
  }));
}
