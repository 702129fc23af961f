// Gossip averagings of two or a few members, between rounds and beside the rest of rounds, with everything that can
// happen to a partner.
#include <doctest/doctest.h>

#include <vector>

#include "shared/swarm/plan.h"
#include "tests/client/transport/raw_peer.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;
using averaging::AveragingOutcome;
using averaging::Rank;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kFloats = 300'000;

wire::GroupInfo pair_of(const Member& one, const Member& other, std::int64_t floats, std::int64_t number) {
  wire::GroupInfo plan = plan_of(std::vector{one.endpoint(), other.endpoint()}, floats, number);
  plan.begin_within_ms = 60'000;
  return plan;
}

Seats gossip_seats(const wire::GroupInfo& group) {
  Seats seats = seats_of(group);
  for (const auto& seat : seats) seat->mixes = true;
  return seats;
}

void check_mean(const Seat& seat) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < seat.output.size(); ++i) wrong += seat.output[i] == mean_of({0, 1}, i) ? 0 : 1;
  CHECK(wrong == 0);
}

void end_all(Members& members) {
  for (const auto& member : members) {
    if (member->net == nullptr) continue;
    member->net->end_gossip(0);
    member->net->abandon();
  }
}

}  // namespace

TEST_CASE("pairs mix between two rounds, over the rounds' links, and each has the mean of both") {
  const Project project;
  Members members = make_members(project, 4);
  check_exact_round(members, plan_of(members, kFloats, 0));
  for (std::int64_t number = 1; number < 4; ++number) {
    const std::size_t partner = number % 2 == 1 ? 1 : 2;  // 0-1, 2-3, then 0-2, 1-3
    const Seats first = gossip_seats(pair_of(*members[0], *members[partner], kFloats, number));
    const Seats second = gossip_seats(pair_of(*members[3 - partner], *members[3], kFloats, number + 100));
    REQUIRE(first[0]->start(*members[0]).ok());
    REQUIRE(first[1]->start(*members[partner]).ok());
    REQUIRE(second[0]->start(*members[3 - partner]).ok());
    REQUIRE(second[1]->start(*members[3]).ok());
    for (const Seats* seats : {&first, &second}) {
      for (const auto& seat : *seats) {
        CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
        check_mean(*seat);
      }
    }
    for (const auto& member : members) member->net->end_gossip(0);
  }
  check_exact_round(members, plan_of(members, kFloats, 50));
}

TEST_CASE("buckets mix side by side, the first one first, and each may have another partner") {
  const Project project;
  Members members = make_members(project, 3);
  for (const auto& member : members) member->net->limit(2e6, 2e6);
  std::vector<Seats> buckets;
  for (std::size_t bucket = 0; bucket < 3; ++bucket) {
    buckets.push_back(
        gossip_seats(pair_of(*members[0], *members[bucket == 1 ? 2 : 1], kFloats, static_cast<std::int64_t>(bucket))));
    for (const auto& seat : buckets.back()) seat->bucket = bucket;
  }
  for (std::size_t bucket = 0; bucket < 3; ++bucket) {
    REQUIRE(buckets[bucket][0]->start(*members[0]).ok());
    REQUIRE(buckets[bucket][1]->start(*members[bucket == 1 ? 2 : 1]).ok());
  }
  for (const Seats& seats : buckets) {
    for (const auto& seat : seats) {
      CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
      check_mean(*seat);
    }
  }
  for (const auto& member : members) {
    for (std::size_t bucket = 0; bucket < 3; ++bucket) member->net->end_gossip(bucket);
  }
}

TEST_CASE("of a partner that dies in the middle of its buckets, those that are through stay with both as they are") {
  const Project project;
  Members members = make_members(project, 2);
  for (const auto& member : members) member->net->limit(2e6, 2e6);
  std::vector<Seats> buckets;
  for (std::size_t bucket = 0; bucket < 4; ++bucket) {
    buckets.push_back(gossip_seats(pair_of(*members[0], *members[1], 600'000, static_cast<std::int64_t>(bucket))));
    for (const Rank rank : {0, 1}) {
      buckets.back()[rank]->bucket = bucket;
      REQUIRE(buckets.back()[rank]->start(*members[rank]).ok());
    }
  }
  for (const Rank rank : {0, 1}) CHECK(buckets[0][rank]->wait().verdict == AveragingOutcome::Verdict::averaged);
  members[1]->leave();
  for (const auto& seat : buckets[0]) check_mean(*seat);
  const AveragingOutcome last = buckets[3][0]->wait();
  CHECK(last.verdict == AveragingOutcome::Verdict::minority);
  CHECK(last.weight_total == 1);  // nothing from the partner had come: the first averaging's frames go first
  for (std::size_t bucket = 0; bucket < 4; ++bucket) members[0]->net->end_gossip(bucket);
}

TEST_CASE("a mixing takes nothing from a round that slower members are still in") {
  const Project project;
  Members members = make_members(project, 3);
  wire::GroupInfo round = plan_of(members, 600'000);
  round.members[2].part_floats = 0;
  round.members[2].role = wire::MemberRole::deferred;
  round.members[1].part_floats = 300'000;
  round.members[0].part_floats = 300'000;
  members[2]->net->limit(1e6, 1e6);  // it sends and receives for five seconds
  const Seats seats = seats_of(round);
  for (Rank rank = 0; rank < 3; ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  for (const Rank rank : {0, 1}) CHECK(seats[rank]->wait().verdict == AveragingOutcome::Verdict::averaged);
  const Seats gossip = gossip_seats(pair_of(*members[0], *members[1], kFloats, 5));
  for (const Rank rank : {0, 1}) REQUIRE(gossip[rank]->start(*members[rank]).ok());
  for (const auto& seat : gossip) CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
  for (const Rank rank : {0, 1}) members[rank]->net->end_gossip(0);
  const AveragingOutcome last = seats[2]->wait();
  CHECK(last.verdict == AveragingOutcome::Verdict::averaged);
  CHECK(last.lost.empty());
  CHECK(seats[2]->output == seats[0]->output);
  end_all(members);
}

TEST_CASE("a partner that does not come is waited for as long as the plan says, and blamed") {
  const Project project;
  Members members = make_members(project, 2);
  wire::GroupInfo plan = pair_of(*members[0], *members[1], kFloats, 0);
  plan.begin_within_ms = 300;
  const Seats seats = gossip_seats(plan);
  REQUIRE(seats[0]->start(*members[0]).ok());
  const AveragingOutcome outcome = seats[0]->wait();
  CHECK(outcome.verdict == AveragingOutcome::Verdict::minority);
  CHECK(outcome.weight_total == 1);
  REQUIRE(outcome.faults.size() == 1);
  CHECK(outcome.faults[0].fault == wire::Fault::absent);
  CHECK(outcome.elapsed < 8s);  // nothing else ends before ten
  end_all(members);
}

TEST_CASE("a partner at a later mixing is not waited for, nor blamed") {
  const Project project;
  Members members = make_members(project, 2);
  const Seats earlier = gossip_seats(pair_of(*members[0], *members[1], kFloats, 0));
  REQUIRE(earlier[0]->start(*members[0]).ok());
  members[0]->net->end_gossip(0);
  const Seats later = gossip_seats(pair_of(*members[0], *members[1], kFloats, 1));
  REQUIRE(later[0]->start(*members[0]).ok());
  REQUIRE(earlier[1]->start(*members[1]).ok());
  const AveragingOutcome outcome = earlier[1]->wait();
  CHECK(outcome.weight_total == 2);  // its own samples
  CHECK(outcome.faults.empty());
  CHECK(outcome.lost.size() == 1);
  CHECK(outcome.elapsed < 10s);
  REQUIRE(later[1]->start(*members[1]).ok());  // it moves on to that averaging, where the other waits
  for (const auto& seat : later) {
    CHECK(seat->wait().verdict == AveragingOutcome::Verdict::averaged);
    check_mean(*seat);
  }
  end_all(members);
}

TEST_CASE("a partner that dies in the middle leaves what it has sent") {
  const Project project;
  Members members = make_members(project, 2);
  const Seats seats = gossip_seats(pair_of(*members[0], *members[1], 3'000'000, 0));
  for (const auto& member : members) member->net->limit(2e6, 2e6);  // six seconds for a gossip averaging
  for (Rank rank = 0; rank < 2; ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  wait_until([&] { return members[0]->net->stats().round_bytes_received > 1'000'000; });
  members[1]->leave();
  const AveragingOutcome outcome = seats[0]->wait();
  CHECK(outcome.verdict == AveragingOutcome::Verdict::minority);
  CHECK(outcome.elapsed < 6s);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < seats[0]->output.size(); ++i) {
    const float value = seats[0]->output[i];
    wrong += value == mean_of({0, 1}, i) || value == Seat::value(0, i) ? 0 : 1;
  }
  CHECK(wrong == 0);
  end_all(members);
}

TEST_CASE("a partner that lies about lengths is cut off, and what it sent is in nothing") {
  const Project project;
  Members members = make_members(project, 1);
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  wire::Endpoint liars;
  liars.peer = key.peer_id();
  wire::GroupInfo plan = plan_of(std::vector{members[0]->endpoint(), liars}, kFloats);
  plan.begin_within_ms = 60'000;
  plan.members[1].role = wire::MemberRole::client_only;
  RawPeer liar(members[0]->net->port(), project.context(project.identity(key)));
  liar.say_hello();
  const Seats seats = gossip_seats(plan);
  REQUIRE(seats[0]->start(*members[0]).ok());
  std::optional<wire::FrameType> type = liar.next_frame();
  while (type && type != wire::FrameType::begin) type = liar.next_frame();
  REQUIRE(type == wire::FrameType::begin);
  wire::Begin about;
  about.rank = 1;
  about.vector_floats = kFloats;
  about.weight = 1;
  about.norms = {1, 1};
  about.plan_digest = swarm::plan_digest(plan);
  const auto begin = wire::encode(about);
  liar.send_header(wire::FrameType::begin, begin.size(), plan.id);
  liar.send(begin);
  liar.send_header(wire::FrameType::contribution, 12, plan.id);  // part of a segment of 128 KiB
  liar.send(std::vector<std::uint8_t>(12, 1));
  const AveragingOutcome outcome = seats[0]->wait();
  CHECK(outcome.weight_total == 1);
  REQUIRE(outcome.faults.size() == 1);
  CHECK(outcome.faults[0].fault == wire::Fault::nonsense);
  CHECK(liar.is_cut_off());
  end_all(members);
}
