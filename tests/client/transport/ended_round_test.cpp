// A round that is over at some members and not at others: the latter learn it from a frame, not from silence.
#include <doctest/doctest.h>

#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;
using averaging::AveragingOutcome;
using averaging::Rank;
using namespace std::chrono_literals;

namespace {

wire::GroupInfo patient_plan(const Members& members, std::int64_t floats, std::int64_t round = 0) {
  wire::GroupInfo plan = plan_of(members, floats, round);
  plan.begin_within_ms = 60'000;
  return plan;
}

// The member ends alone, at once, and without a complaint about anybody.
void check_left_alone(Seat& seat) {
  const AveragingOutcome outcome = seat.wait();
  CHECK(outcome.verdict == AveragingOutcome::Verdict::minority);
  CHECK(outcome.elapsed < 5s);  // no waiting limit is that short with these plans
  CHECK(outcome.lost.size() == 2);
  for (const averaging::LostMember& lost : outcome.lost) CHECK(lost.reason == "the round is over there");
  CHECK(outcome.faults.empty());
}

}  // namespace

TEST_CASE("who begins in a round that is over hears so from those who were in it") {
  const Project project;
  Members members = make_members(project, 3);
  const Seats seats = seats_of(patient_plan(members, 1000));
  for (const Rank rank : {0, 1}) {
    REQUIRE(seats[rank]->start(*members[rank]).ok());
    members[rank]->net->abandon();
  }
  REQUIRE(seats[2]->start(*members[2]).ok());
  check_left_alone(*seats[2]);
  members[2]->net->abandon();
}

TEST_CASE("who is in the middle of a round hears that the others have left it") {
  const Project project;
  Members members = make_members(project, 3);
  const Seats seats = seats_of(patient_plan(members, 3'000'000));
  for (const auto& member : members) member->net->limit(1e6, 1e6);  // twelve seconds for a round
  for (Rank rank = 0; rank < 3; ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  wait_until([&] { return members[2]->net->stats().round_bytes_received > 100'000; });
  for (const Rank rank : {0, 1}) members[rank]->net->abandon();
  check_left_alone(*seats[2]);
  members[2]->net->abandon();
}

TEST_CASE("who has left before the start is not waited for") {
  const Project project;
  Members members = make_members(project, 3);
  check_exact_round(members, plan_of(members, 1000, 0));  // the links are up
  const Seats seats = seats_of(patient_plan(members, 1000, 1));
  for (Rank rank = 0; rank < 3; ++rank) REQUIRE(seats[rank]->start(*members[rank], 500ms).ok());
  for (const Rank rank : {0, 1}) members[rank]->net->abandon();
  check_left_alone(*seats[2]);
  members[2]->net->abandon();
}
