#include "shared/swarm/legs.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

wire::GroupInfo planned() {
  wire::GroupInfo group;
  group.id.bytes[0] = 4;
  group.run_id = "tiny";
  group.vector_floats = 1000;
  group.start_in_ms = 500;
  for (const std::int64_t part : {600, 300, 100, 0}) {
    wire::GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(group.members.size());
    member.endpoint.host = "192.0.2.1";
    member.endpoint.port = part > 0 ? 4000 : 0;
    member.part_floats = part;
    group.members.push_back(member);
  }
  return group;
}

}  // namespace

TEST_CASE("averagings that follow each other share a vector out alike, each under an id of its own") {
  const wire::GroupInfo group = planned();
  for (const std::int64_t floats : {1, 10, 37, 4000, 123457}) {
    CAPTURE(floats);
    const wire::GroupInfo leg = swarm::plan_leg(group, 0, floats);
    CHECK(wire::check_group(leg).ok());
    CHECK(leg.vector_floats == floats);
    CHECK(leg.members[3].part_floats == 0);
    CHECK(leg.members[0].part_floats >= leg.members[1].part_floats);
    CHECK(std::abs(leg.members[0].part_floats - 0.6 * static_cast<double>(floats)) <= 1);
    CHECK(leg.start_in_ms == 0);
    CHECK(leg.id != group.id);
    CHECK(leg.id == swarm::plan_leg(group, 0, 5).id);
    CHECK(leg.id != swarm::plan_leg(group, 1, floats).id);
  }
}
