#include "shared/swarm/successor.h"

#include <doctest/doctest.h>

#include <vector>

#include "shared/swarm/plan.h"

using namespace starling;

namespace {

Digest state(std::uint8_t fill) {
  Digest digest;
  digest.bytes.fill(fill);
  return digest;
}

wire::GroupInfo group_of(int members) {
  std::vector<wire::MemberInfo> infos;
  for (int n = 0; n < members; ++n) {
    wire::MemberInfo info;
    info.endpoint.peer.bytes.fill(static_cast<std::uint8_t>(n + 1));
    info.endpoint.host = "192.0.2.1";
    info.endpoint.port = 1000 + n;
    info.upload_bytes_per_s = info.download_bytes_per_s = 1e6 * (n + 1);
    infos.push_back(info);
  }
  swarm::PlanOptions options;
  options.run_id = "run";
  options.round = 4;
  options.vector_floats = 1001;
  return swarm::plan_group(infos, options);
}

}  // namespace

TEST_CASE("the next group without a coordinator is sound, one round later, and the same for all who compute it") {
  const wire::GroupInfo last = group_of(5);
  const std::vector<SampleCount> contributed{3, 3, 0, 3, 3};
  const wire::GroupInfo next = swarm::plan_successor(last, contributed, state(1));
  CHECK(wire::check_group(next).ok());
  CHECK(next.round == 5);
  CHECK(next.autonomous);
  REQUIRE(next.members.size() == 5);
  for (std::size_t rank = 0; rank < 5; ++rank) {
    CHECK((next.members[rank].role == wire::MemberRole::late) == (contributed[rank] == 0));
    if (contributed[rank] == 0) CHECK(next.members[rank].part_floats == 0);
  }
  CHECK(swarm::plan_digest(next) == swarm::plan_digest(swarm::plan_successor(last, contributed, state(1))));
}

TEST_CASE("without a coordinator members may bring as much as in the last plan, whose limits are no part of it") {
  wire::GroupInfo last = group_of(3);
  last.members[1].weight_max = 40;
  const wire::GroupInfo next = swarm::plan_successor(last, std::vector<SampleCount>{3, 3, 3}, state(1));
  CHECK(next.members[1].weight_max == 40);
  CHECK(next.members[0].weight_max == 0);
  CHECK(swarm::plan_digest(last) == swarm::plan_digest(group_of(3)));
}

TEST_CASE("survivors that disagree about who was in get groups that cannot meet") {
  const wire::GroupInfo last = group_of(3);
  const wire::GroupInfo all = swarm::plan_successor(last, std::vector<SampleCount>{1, 1, 1}, state(1));
  const wire::GroupInfo two = swarm::plan_successor(last, std::vector<SampleCount>{1, 1, 0}, state(1));
  const wire::GroupInfo one = swarm::plan_successor(last, std::vector<SampleCount>{0, 1, 0}, state(1));
  CHECK(all.id != two.id);
  CHECK(two.id != one.id);
  CHECK(all.id != last.id);
}

TEST_CASE("survivors that stepped to different states get groups that cannot meet") {
  const wire::GroupInfo last = group_of(3);
  const std::vector<SampleCount> all{1, 1, 1};
  CHECK(swarm::plan_successor(last, all, state(1)).id != swarm::plan_successor(last, all, state(2)).id);
}

TEST_CASE("when every owner is gone the rest share evenly") {
  wire::GroupInfo last = group_of(3);
  last.members[0].part_floats = 1001;
  last.members[1].part_floats = last.members[2].part_floats = 0;
  const wire::GroupInfo next = swarm::plan_successor(last, std::vector<SampleCount>{0, 2, 2}, state(1));
  REQUIRE(next.members.size() == 3);
  CHECK(next.members[0].part_floats == 0);
  CHECK(next.members[1].part_floats + next.members[2].part_floats == 1001);
  CHECK(next.members[1].part_floats >= 500);
  CHECK(next.members[2].part_floats >= 500);
}

TEST_CASE("who missed a round without the coordinator has its place back when it comes in time") {
  const wire::GroupInfo last = group_of(3);
  const wire::GroupInfo missed = swarm::plan_successor(last, std::vector<SampleCount>{2, 0, 2}, state(1));
  CHECK(missed.members[1].role == wire::MemberRole::late);
  const wire::GroupInfo back = swarm::plan_successor(missed, std::vector<SampleCount>{2, 2, 2}, state(2));
  CHECK(wire::check_group(back).ok());
  CHECK(back.members[1].role == wire::MemberRole::full);
}

TEST_CASE("deferred members are waited for when they would be most of those who came") {
  wire::GroupInfo last = group_of(5);
  for (const std::size_t rank : {0, 1}) {
    last.members[4].part_floats += last.members[rank].part_floats;
    last.members[rank].part_floats = 0;
    last.members[rank].role = wire::MemberRole::deferred;
  }
  REQUIRE(wire::check_group(last).ok());
  const wire::GroupInfo next = swarm::plan_successor(last, std::vector<SampleCount>{2, 2, 0, 0, 2}, state(1));
  CHECK(wire::check_group(next).ok());
  CHECK(next.members[0].role == wire::MemberRole::full);
}

TEST_CASE("the time to begin grows once, not with every round") {
  const wire::GroupInfo last = group_of(3);
  const std::vector<SampleCount> all{1, 1, 1};
  const wire::GroupInfo next = swarm::plan_successor(last, all, state(1));
  CHECK(next.begin_within_ms == 2 * last.begin_within_ms);
  CHECK(swarm::plan_successor(next, all, state(1)).begin_within_ms == next.begin_within_ms);
}
