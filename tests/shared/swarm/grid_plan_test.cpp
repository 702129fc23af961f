#include "shared/swarm/grid_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace starling;
using namespace starling::swarm;

namespace {

std::vector<wire::MemberInfo> volunteers(std::size_t count, std::size_t undialable = 0) {
  std::vector<wire::MemberInfo> members(count);
  for (std::size_t i = 0; i < count; ++i) {
    members[i].endpoint.peer.bytes[0] = static_cast<std::uint8_t>(i / 256);
    members[i].endpoint.peer.bytes[1] = static_cast<std::uint8_t>(i % 256);
    members[i].endpoint.host = i < undialable ? "" : "192.0.2.1";
    members[i].endpoint.port = i < undialable ? 0 : 4000;
    members[i].upload_bytes_per_s = members[i].download_bytes_per_s = 1e6 * static_cast<double>(1 + i % 7);
  }
  return members;
}

PlanOptions options_for(std::uint64_t nonce = 1) {
  PlanOptions options;
  options.run_id = "grid";
  options.round = 3;
  options.vector_floats = 100'003;
  options.contribution_codec = wire::Codec::int8;
  options.nonce = nonce;
  return options;
}

std::set<PeerId> peers_of(const wire::GroupInfo& group) {
  std::set<PeerId> peers;
  for (const wire::GroupMember& member : group.members) peers.insert(member.endpoint.peer);
  return peers;
}

}  // namespace

TEST_CASE("everybody has a place in one column, and every column sends its heads to the one group of heads") {
  for (const std::size_t count : {6U, 7U, 9U, 60U, 211U}) {
    const auto members = volunteers(count);
    const std::size_t columns = columns_of(members, 4);
    REQUIRE(columns >= 2);
    const GridRound round = plan_grid(members, options_for(), columns);
    REQUIRE(round.columns.size() == columns);
    std::set<PeerId> seated;
    for (const wire::GroupInfo& column : round.columns) {
      const Status sound = wire::check_group(column);
      REQUIRE_MESSAGE(sound.ok(), sound.error().message);
      CHECK(column.members.size() >= count / columns);
      CHECK(column.members.size() <= (count + columns - 1) / columns);
      seated.merge(peers_of(column));
      CHECK(peers_of(wire::heads_group(column)) == peers_of(wire::heads_group(round.columns[0])));
      CHECK(column.grid->id == round.columns[0].grid->id);
      CHECK(column.grid->heads.size() == kHeadsPerColumn * columns);
    }
    CHECK(seated.size() == count);
    CHECK(round.averaging_s > 0);
  }
}

TEST_CASE("columns are dealt anew for every round, and alike on every machine") {
  const auto members = volunteers(30);
  auto reversed = members;
  std::reverse(reversed.begin(), reversed.end());
  const auto first = plan_grid(members, options_for(1), 4).columns;
  const auto again = plan_grid(reversed, options_for(1), 4).columns;
  const auto other = plan_grid(members, options_for(2), 4).columns;
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(first[c].id == again[c].id);
    CHECK(plan_digest(wire::spread_group(first[c])) == plan_digest(wire::spread_group(again[c])));
  }
  CHECK(peers_of(first[0]) != peers_of(other[0]));
}

TEST_CASE("every column has somebody to call; there are no more columns than that") {
  const auto members = volunteers(20, 17);
  CHECK(columns_of(members, 4) == 3);
  for (const wire::GroupInfo& column : plan_grid(members, options_for(), 3).columns) {
    CHECK(wire::check_group(column).ok());
  }
  CHECK(columns_of(volunteers(5), 3) == 1);  // a column of two could not lose anybody
  CHECK(columns_of(volunteers(1000), 500) == 2);
}

TEST_CASE("only a head is told who the heads are") {
  const GridRound round = plan_grid(volunteers(12), options_for(), 3);
  const wire::GroupInfo& column = round.columns[1];
  for (std::size_t rank = 0; rank < column.members.size(); ++rank) {
    const wire::GroupInfo place = place_in(column, column.members[rank].endpoint.peer);
    CHECK(place.grid->heads.empty() != column.grid->spread[rank].head);
    CHECK(wire::check_group(place).ok());
  }
}

TEST_CASE("a grid that could not be run is refused") {
  const wire::GroupInfo sound = plan_grid(volunteers(12), options_for(), 3).columns[1];
  REQUIRE(wire::check_group(sound).ok());
  const auto refused = [&](const auto& change) {
    wire::GroupInfo group = sound;
    change(group, *group.grid);
    return !wire::check_group(group).ok();
  };
  using Group = wire::GroupInfo;
  using Grid = wire::GridPlan;
  CHECK(refused([](Group&, Grid& grid) { grid.column = 3; }));
  CHECK(refused([](Group&, Grid& grid) { grid.columns = 1; }));
  CHECK(refused([](Group&, Grid& grid) { grid.columns = 257; }));
  CHECK(refused([](Group&, Grid& grid) { grid.heads[0].column = 3; }));
  CHECK(refused([](Group&, Grid& grid) { grid.heads[0].member = grid.heads[1].member; }));
  CHECK(refused([](Group&, Grid& grid) { grid.heads[0].member.part_floats += 1; }));
  CHECK(refused([](Group&, Grid& grid) { grid.spread.pop_back(); }));
  CHECK(refused([](Group&, Grid& grid) { std::swap(grid.spread[0].head, grid.spread[1].head); }) ==
        (sound.grid->spread[0].head != sound.grid->spread[1].head));
  CHECK(refused([](Group&, Grid& grid) {
    for (Grid::Seat& seat : grid.spread) seat.head = false;
    grid.heads.clear();
  }));
  CHECK(refused([](Group&, Grid& grid) { grid.spread_within_ms = -1; }));
  CHECK(refused([](Group& group, Grid& grid) {  // results would be cut in other places than in other columns
    const auto cut =
        std::find_if(grid.spread.begin(), grid.spread.end(), [](const auto& s) { return s.part_floats > 1; });
    const auto next = std::find_if(cut + 1, grid.spread.end(), [](const auto& s) { return s.part_floats > 1; });
    REQUIRE(next != grid.spread.end());
    REQUIRE(group.segment_floats > 1);
    cut->part_floats -= 1;
    next->part_floats += 1;
  }));
  CHECK(refused([](Group& group, Grid&) {
    group.members[0].part_floats += std::exchange(group.members[1].part_floats, 0);
    group.members[1].role = wire::MemberRole::deferred;
  }));
}

TEST_CASE("parts begin where segments do") {
  CHECK(aligned_parts(100, 8, std::vector<double>{1, 1, 2}) == std::vector<std::int64_t>{24, 24, 52});
  CHECK(aligned_parts(5, 8, std::vector<double>{1, 3}) == std::vector<std::int64_t>{0, 5});
}
