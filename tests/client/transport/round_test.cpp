#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "shared/swarm/grid_plan.h"
#include "tests/client/transport/raw_peer.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;
using averaging::AveragingOutcome;
using averaging::Rank;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kFloats = 300'000;  // several segments for each of five members, the last ones short

void check_mean(const Seat& seat, const std::vector<Rank>& ranks) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < seat.output.size(); ++i) wrong += seat.output[i] == mean_of(ranks, i) ? 0 : 1;
  CHECK(wrong == 0);
}

void abandon_all(Members& members) {
  for (const auto& member : members) {
    if (member->net != nullptr) member->net->abandon();
  }
}

}  // namespace

TEST_CASE("two, three and five members all end with the exact weighted mean") {
  const Project project;
  for (const std::size_t count : {2U, 3U, 5U}) {
    CAPTURE(count);
    Members members = make_members(project, count);
    check_exact_round(members, plan_of(members, kFloats));
  }
}

TEST_CASE("the next round runs over the same links") {
  const Project project;
  Members members = make_members(project, 3);
  check_exact_round(members, plan_of(members, kFloats, 0));
  for (const auto& member : members) CHECK(member->net->stats().links_up == 2);
  // Nobody can be called any more: existing links have to do.
  wire::GroupInfo second = plan_of(members, kFloats, 1);
  for (wire::GroupMember& member : second.members) member.endpoint.port = 1;
  check_exact_round(members, second);
}

TEST_CASE("links tell of every peer how fast it is") {
  const Project project;
  Members members = make_members(project, 3);
  int round = 0;
  const auto known = [&](const PeerSpeed& speed) {
    return speed.upload_bytes_per_s > 0 && speed.download_bytes_per_s > 0 && speed.round_trip > Duration{};
  };
  wait_until([&] {
    check_exact_round(members, plan_of(members, 2'000'000, round++));
    const NetworkStats stats = members[1]->net->stats();
    REQUIRE(stats.peers.size() == 2);
    return std::all_of(stats.peers.begin(), stats.peers.end(), known);
  });
  const NetworkStats stats = members[1]->net->stats();
  const auto [nearest, farthest] = std::minmax(stats.peers[0].round_trip, stats.peers[1].round_trip);
  CHECK(stats.round_trip >= nearest);
  CHECK(stats.round_trip <= farthest);
  std::vector<PeerId> named;
  for (const PeerSpeed& speed : members[1]->net->stats().peers) named.push_back(speed.peer);
  CHECK(std::is_permutation(named.begin(), named.end(), std::vector{members[0]->id, members[2]->id}.begin()));
}

TEST_CASE("the next round may be begun where the last one is reported") {
  const Project project;
  Members members = make_members(project, 2);
  const Seats first = seats_of(plan_of(members, kFloats, 0));
  const Seats second = seats_of(plan_of(members, kFloats, 1));
  std::promise<Status> begun[2];
  for (Rank rank = 0; rank < 2; ++rank) {
    first[rank]->then = [&, rank] { begun[rank].set_value(second[rank]->start(*members[rank])); };
    REQUIRE(first[rank]->start(*members[rank]).ok());
  }
  for (auto& status : begun) CHECK(status.get_future().get().ok());
  for (const auto& seat : second) {
    CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
    check_mean(*seat, {0, 1});
  }
  abandon_all(members);
}

TEST_CASE("an averaging that follows another leaves that one to slower members") {
  const Project project;
  Members members = make_members(project, 5);
  std::vector<Seats> legs;
  for (int leg = 0; leg < 6; ++leg) {
    legs.push_back(seats_of(plan_of(members, leg % 2 == 0 ? 1000 : kFloats, leg)));
    for (const auto& seat : legs.back()) seat->follows = leg % 2 == 1;
  }
  for (std::size_t leg = 0; leg + 1 < legs.size(); ++leg) {
    for (Rank rank = 0; rank < 5; ++rank) {
      legs[leg][rank]->then = [&, leg, rank] { (void)legs[leg + 1][rank]->start(*members[rank]); };
    }
  }
  for (Rank rank = 0; rank < 5; ++rank) REQUIRE(legs[0][rank]->start(*members[rank]).ok());
  for (const auto& seat : legs.back()) {
    const AveragingOutcome outcome = seat->wait();
    CHECK(outcome.verdict == AveragingOutcome::Verdict::averaged);
    CHECK(outcome.lost.empty());
    check_mean(*seat, {0, 1, 2, 3, 4});
  }
  abandon_all(members);
}

TEST_CASE("whoever is lost between two averagings of a round is not waited for") {
  const Project project;
  Members members = make_members(project, 4);
  const Seats first = seats_of(plan_of(members, kFloats, 0));
  wire::GroupInfo plan = plan_of(members, kFloats, 1);
  plan.begin_within_ms = 60'000;
  const Seats second = seats_of(plan);
  for (Rank rank = 0; rank < 4; ++rank) REQUIRE(first[rank]->start(*members[rank]).ok());
  for (const auto& seat : first) CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
  members[3]->leave();
  wait_until([&] {
    return std::all_of(members.begin(), members.end() - 1,
                       [](const auto& member) { return member->net->stats().links_up == 2; });
  });
  for (Rank rank = 0; rank < 3; ++rank) {
    second[rank]->follows = true;
    REQUIRE(second[rank]->start(*members[rank]).ok());
  }
  for (Rank rank = 0; rank < 3; ++rank) {
    const AveragingOutcome outcome = second[rank]->wait();
    CHECK(outcome.verdict == AveragingOutcome::Verdict::averaged);
    CHECK(outcome.elapsed < 10s);
    check_mean(*second[rank], {0, 1, 2});
  }
  abandon_all(members);
}

TEST_CASE("a grid of columns and heads ends with everybody's exact mean") {
  const Project project;
  Members members = make_members(project, 7);
  std::vector<wire::MemberInfo> infos;
  for (const auto& member : members) infos.push_back({.endpoint = member->endpoint()});
  swarm::PlanOptions options;
  options.run_id = kRun;
  options.vector_floats = kFloats;
  const auto columns = swarm::plan_grid(infos, options, 2).columns;
  Seats seats;
  std::vector<Rank> all;
  for (Rank i = 0; i < members.size(); ++i) {
    all.push_back(i);
    for (const wire::GroupInfo& column : columns) {
      for (Rank rank = 0; rank < column.members.size(); ++rank) {
        if (column.members[rank].endpoint.peer != members[i]->id) continue;
        seats.push_back(std::make_unique<Seat>(swarm::place_in(column, members[i]->id), i, i + 1));
        seats.back()->rank = rank;
      }
    }
  }
  for (Rank i = 0; i < members.size(); ++i) REQUIRE(seats[i]->start(*members[i]).ok());
  for (const auto& seat : seats) {
    const AveragingOutcome outcome = seat->wait();
    CHECK(outcome.verdict == AveragingOutcome::Verdict::averaged);
    CHECK(outcome.weight_total == 28);
    CHECK(seat->output == seats.front()->output);
    double worst = 0;
    for (std::size_t p = 0; p < seat->output.size(); ++p) {
      worst = std::max<double>(worst, std::abs(seat->output[p] - mean_of(all, p)));
    }
    CHECK(worst < 1e-4);  // the values are up to 43
  }
  abandon_all(members);
}

TEST_CASE("traffic is counted") {
  const Project project;
  Members members = make_members(project, 2);
  const wire::GroupInfo group = plan_of(members, 2'000'000);
  check_exact_round(members, group);
  const std::int64_t one_way = group.vector_floats * 4;  // half a vector to reduce, and half a vector of results
  for (const auto& member : members) {
    const NetworkStats stats = member->net->stats();
    CHECK(stats.round_bytes_sent >= one_way);
    CHECK(stats.round_bytes_sent < one_way + one_way / 100);
    CHECK(stats.round_bytes_received >= one_way);
    CHECK(stats.state_bytes_sent == 0);
  }
}

// The length of transfer that shows a speed depends on the machine, so the vector grows until both are measured.
TEST_CASE("the speed of the links is seen") {
  const Project project;
  Members members = make_members(project, 2);
  const auto measured = [&] {
    return std::ranges::all_of(members, [](const auto& member) {
      const NetworkStats stats = member->net->stats();
      return stats.upload_bytes_per_s > 0 && stats.download_bytes_per_s > 0;
    });
  };
  std::int64_t round = 0;
  for (std::int64_t floats = 8'000'000; !measured() && floats <= 64'000'000; floats *= 2) {
    check_exact_round(members, plan_of(members, floats, round++));
  }
  for (const auto& member : members) {
    const NetworkStats stats = member->net->stats();
    CHECK(stats.upload_bytes_per_s > 1e6);
    CHECK(stats.upload_bytes_per_s < 1e11);
    CHECK(stats.download_bytes_per_s > 1e6);
    CHECK(stats.download_bytes_per_s < 1e11);
  }
}

TEST_CASE("a member that cannot be dialled takes part by dialling") {
  const Project project;
  Members members = make_members(project, 2);
  members.push_back(std::make_unique<Member>(project, false));
  const wire::GroupInfo group = plan_of(members, kFloats);
  REQUIRE(group.members[2].part_floats == 0);
  check_exact_round(members, group);
}

TEST_CASE("a begin that comes before the plan is kept") {
  const Project project;
  Members members = make_members(project, 2);
  if (members[1]->id < members[0]->id) std::swap(members[0], members[1]);  // the lower id dials
  const Seats seats = seats_of(plan_of(members, kFloats));
  REQUIRE(seats[0]->start(*members[0]).ok());
  // The other member hears of the round when the first one has connected and sent its begin.
  wait_until([&] { return members[1]->net->stats().round_bytes_received > 0; });
  REQUIRE(seats[1]->start(*members[1]).ok());
  for (const auto& seat : seats) {
    CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
    check_mean(*seat, {0, 1});
  }
  abandon_all(members);
}

TEST_CASE("a round begins at its start, not when the plan arrives") {
  const Project project;
  Members members = make_members(project, 2);
  const Seats seats = seats_of(plan_of(members, kFloats));
  const TimePoint before = members[0]->clock.now();
  for (Rank rank = 0; rank < 2; ++rank) REQUIRE(seats[rank]->start(*members[rank], 300ms).ok());
  for (const auto& seat : seats) CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
  CHECK(members[0]->clock.now() - before >= 300ms);
  abandon_all(members);
}

TEST_CASE("who is gone before the round, or between its plan and its start, is not waited for") {
  const Project project;
  Members members = make_members(project, 4);
  check_exact_round(members, plan_of(members, kFloats, 0));
  wire::GroupInfo plan = plan_of(members, kFloats, 1);
  plan.begin_within_ms = 60'000;
  const Seats seats = seats_of(plan);
  members[0]->leave();  // whether it was the lowest does not matter, nor whose turn it was to dial
  for (const Rank rank : {1, 2}) REQUIRE(seats[rank]->start(*members[rank], 200ms).ok());
  members[3]->leave();
  for (const Rank rank : {1, 2}) {
    const AveragingOutcome outcome = seats[rank]->wait();
    CHECK(outcome.elapsed < 5s);
    CHECK(outcome.lost.size() == 2);
  }
  abandon_all(members);
}

TEST_CASE("members go on without one that is gone in the middle of the round") {
  const Project project;
  Members members = make_members(project, 4);
  const Seats seats = seats_of(plan_of(members, 4'000'000));
  for (Rank rank = 0; rank < 4; ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  wait_until([&] { return members[3]->net->stats().round_bytes_sent >= 1'000'000; });
  members[3]->leave();
  std::vector<AveragingOutcome> outcomes;
  for (Rank rank = 0; rank < 3; ++rank) outcomes.push_back(seats[rank]->wait());
  for (Rank rank = 0; rank < 3; ++rank) {
    CHECK(outcomes[rank].verdict == AveragingOutcome::Verdict::averaged);
    CHECK(seats[rank]->output == seats[0]->output);
    CHECK(outcomes[rank].samples == outcomes[0].samples);
  }
  std::size_t neither = 0;  // coordinates that are neither the mean with the lost member's data nor that without
  for (std::size_t i = 0; i < seats[0]->output.size(); ++i) {
    const float value = seats[0]->output[i];
    neither += value == mean_of({0, 1, 2, 3}, i) || value == mean_of({0, 1, 2}, i) ? 0 : 1;
  }
  CHECK(neither == 0);
  abandon_all(members);
}

TEST_CASE("a valid certificate of another member is not the planned member") {
  const Project project;
  Members members = make_members(project, 3);
  wire::GroupInfo group = plan_of(members, kFloats);
  group.begin_within_ms = 3000;
  // The plan says that this peer listens where member 2 listens.
  group.members[2].endpoint.peer.bytes.fill(0xff);  // the highest id: it is the others' turn to dial
  const Seats seats = seats_of(group);
  for (Rank rank = 0; rank < 2; ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  for (Rank rank = 0; rank < 2; ++rank) {
    const AveragingOutcome outcome = seats[rank]->wait();
    CHECK(outcome.verdict == AveragingOutcome::Verdict::averaged);
    REQUIRE(outcome.lost.size() == 1);
    CHECK(outcome.lost[0].rank == 2);
    check_mean(*seats[rank], {0, 1});
  }
  CHECK(members[2]->net->stats().round_bytes_received == 0);
  CHECK(members[0]->net->stats().links_refused + members[1]->net->stats().links_refused > 0);
  abandon_all(members);
}

TEST_CASE("garbage, oversized frames and frames out of place on the port do not disturb a round") {
  const Project project;
  Members members = make_members(project, 2);
  const int port = members[0]->net->port();
  const std::vector<std::uint8_t> noise(5000, 0x5a);

  RawPeer stranger(port);  // no TLS at all
  stranger.send_plain(noise);
  RawPeer silent(port);  // connects and says nothing

  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  const crypto::TlsContext tls = project.context(project.identity(key));
  RawPeer rude(port, tls);  // a member of the project that sends noise instead of frames
  rude.send(noise);
  RawPeer greedy(port, tls);  // a member that announces more than any frame may have
  greedy.say_hello();
  greedy.send_header(wire::FrameType::contribution, wire::kFramePayloadMax + 1);
  RawPeer hasty(port, tls);  // a member that skips the hello
  hasty.send_header(wire::FrameType::ping, 0);
  RawPeer other_run(port, tls);
  other_run.say_hello("another-run");

  check_exact_round(members, plan_of(members, kFloats));
  CHECK(stranger.is_cut_off());
  CHECK(rude.is_cut_off());
  CHECK(greedy.is_cut_off());
  CHECK(hasty.is_cut_off());
  CHECK(other_run.is_cut_off());
}

TEST_CASE("frames of groups that are over or unknown are passed over without a cut") {
  const Project project;
  Members members = make_members(project, 2);
  RawPeer late(members[0]->net->port(), project.context(project.identity(crypto::PrivateKey::generate())));
  late.say_hello();
  GroupId over;
  over.bytes[3] = 9;
  for (const wire::FrameType type :
       {wire::FrameType::contribution, wire::FrameType::inventory, wire::FrameType::done}) {
    late.send_header(type, 100'000, over);
    late.send(std::vector<std::uint8_t>(100'000, 1));
  }
  check_exact_round(members, plan_of(members, kFloats));
  late.send_header(wire::FrameType::ping, 0);
  CHECK(late.next_frame() == wire::FrameType::pong);
}

TEST_CASE("who sends frames of a group that it is no member of is cut off, and the round goes on") {
  const Project project;
  Members members = make_members(project, 2);
  const wire::GroupInfo group = plan_of(members, 3'000'000);
  RawPeer intruder(members[0]->net->port(), project.context(project.identity(crypto::PrivateKey::generate())));
  intruder.say_hello();
  const Seats seats = seats_of(group);
  for (Rank rank = 0; rank < 2; ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  intruder.send_header(wire::FrameType::contribution, 100, group.id);
  CHECK(intruder.is_cut_off());
  for (const auto& seat : seats) {
    CHECK(seat->wait().lost.empty());
    check_mean(*seat, {0, 1});
  }
  abandon_all(members);
}

TEST_CASE("a plan or vectors that do not fit are refused at once") {
  const Project project;
  Members members = make_members(project, 2);
  const wire::GroupInfo group = plan_of(members, 1000);
  Seat wrong_rank(group, 1, 1);
  CHECK(wrong_rank.start(*members[0]).error().code == ErrorCode::invalid_argument);
  Seat short_output(group, 0, 1);
  short_output.output.resize(999);
  CHECK(short_output.start(*members[0]).error().code == ErrorCode::invalid_argument);
  wire::GroupInfo bad = group;
  bad.members[0].part_floats += 1;
  Seat bad_plan(bad, 0, 1);
  CHECK(bad_plan.start(*members[0]).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("an abandoned round never reports, and its vectors may go at once") {
  const Project project;
  Members members = make_members(project, 2);
  {
    const Seats seats = seats_of(plan_of(members, 2'000'000));
    for (Rank rank = 0; rank < 2; ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
    abandon_all(members);
    for (const auto& seat : seats) seat->input.assign(seat->input.size(), -1.0F);
  }
  check_exact_round(members, plan_of(members, kFloats, 1));
}
