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

namespace {

// Members with lines of 1 MB/s that others have seen.
struct Lines {
  explicit Lines(std::size_t count) : members(volunteers(count)) {
    for (std::size_t i = 0; i < count; ++i) {
      tell(i, 1e6);
      see(i, 1e6);
    }
  }
  void tell(std::size_t i, double bytes_per_s) {
    members[i].upload_bytes_per_s = members[i].download_bytes_per_s = bytes_per_s;
  }
  void see(std::size_t i, double bytes_per_s) { seen[members[i].endpoint.peer].bytes_per_s = bytes_per_s; }
  void on_probation(std::size_t i) { seen[members[i].endpoint.peer].voice = false; }

  std::vector<wire::MemberInfo> members;
  SeenLines seen;
};

// How often each member is a head, by its place, in grids of 40 rounds.
std::vector<int> times_head(const Lines& lines, std::size_t columns) {
  const std::vector<wire::MemberInfo>& members = lines.members;
  std::vector<int> times(members.size());
  for (std::uint64_t nonce = 1; nonce <= 40; ++nonce) {
    const GridRound round = plan_grid(members, options_for(nonce), columns, lines.seen);
    for (const wire::GridPlan::Head& head : round.columns[0].grid->heads) {
      const auto is_it = [&](const auto& info) { return info.endpoint.peer == head.member.endpoint.peer; };
      ++times[static_cast<std::size_t>(std::find_if(members.begin(), members.end(), is_it) - members.begin())];
    }
  }
  return times;
}

}  // namespace

TEST_CASE("a line that others have not seen makes nobody a head, whatever its owner says") {
  Lines lines(16);
  lines.tell(3, 1e12);
  SUBCASE("others have seen little") { lines.see(3, 1e5); }
  SUBCASE("others have seen nothing yet") { lines.see(3, 0); }
  CHECK(times_head(lines, 4)[3] == 0);
}

TEST_CASE("the best lines that others have seen are heads, and of these none that says that it is slow") {
  Lines lines(16);
  lines.tell(3, 1e7);
  lines.see(3, 1e7);
  CHECK(times_head(lines, 4)[3] == 40);
  lines.members[3].download_bytes_per_s = 1e5;
  CHECK(times_head(lines, 4)[3] == 0);
}

TEST_CASE("where no line was seen heads are drawn, and who says that it is slow is none") {
  Lines lines(16);
  for (std::size_t i = 0; i < 16; ++i) lines.see(i, 0);
  lines.tell(3, 1e12);
  lines.tell(4, 1e4);
  const std::vector<int> times = times_head(lines, 4);
  CHECK(times[3] < 32);
  CHECK(times[4] == 0);
  for (const std::size_t other : {0U, 1U, 2U, 5U, 15U}) CHECK(times[other] > 8);
}

TEST_CASE("members on probation, and members that nobody relies on, are heads only where nobody else can be called") {
  Lines lines(16);
  for (const std::size_t fast : {3U, 4U}) {
    lines.tell(fast, 1e7);
    lines.see(fast, 1e7);
  }
  lines.on_probation(3);
  lines.members[4].reliance = 0;
  CHECK(times_head(lines, 4)[3] == 0);
  CHECK(times_head(lines, 4)[4] == 0);
  for (std::size_t i = 0; i < 16; ++i) {
    wire::Endpoint& endpoint = lines.members[i].endpoint;
    if (i != 3 && i != 4) endpoint = {endpoint.peer, "", 0};
  }
  const std::vector<int> times = times_head(lines, 2);
  CHECK(times[3] == 40);
  CHECK(times[4] == 40);
}

TEST_CASE("a head owns as many equal parts of the heads' group as of its column, at most") {
  Lines lines(32);
  for (wire::MemberInfo& member : lines.members) member.share_max = 2.0 / 4;
  lines.tell(3, 1e12);
  lines.see(3, 1e12);
  const GridRound round = plan_grid(lines.members, options_for(), 8, lines.seen);
  for (const wire::GridPlan::Head& head : round.columns[0].grid->heads) {
    CHECK(static_cast<double>(head.member.part_floats) <= 2.1 / 16 * 100'003);
  }
}

TEST_CASE("a line that is said to be slower than any holds up no stage for long") {
  Lines lines(16);
  const auto waits_s = [&] {
    const wire::GridPlan grid = *plan_grid(lines.members, options_for(), 4, lines.seen).columns[0].grid;
    return static_cast<double>(grid.spread_within_ms) / 1000;
  };
  const double usual_s = waits_s();
  lines.tell(3, 1);
  CHECK(waits_s() < usual_s + 30);
}

TEST_CASE("a usual line is the median of those that vote, and no faster than others have seen") {
  Lines lines(5);
  for (std::size_t i = 0; i < 5; ++i) lines.tell(i, 2e6);
  CHECK(usual_line(lines.members, lines.seen) == 1e6);
  for (const std::size_t newcomer : {2U, 3U, 4U}) {
    lines.on_probation(newcomer);
    lines.see(newcomer, 9e6);
  }
  CHECK(usual_line(lines.members, lines.seen) == 1e6);
  CHECK(usual_line({}) == 1e6);
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
