// Votes that count, and how.
#include "coordinator/core/electorate.h"

#include <doctest/doctest.h>

#include <map>

#include "shared/swarm/successor.h"
#include "tests/coordinator/core/small_run.h"

namespace starling::core::testing {
namespace {

using State = Ballot::State;

// Seat i of account accounts[i], with the ballot ballots[i].
Count count(const std::vector<AccountId>& accounts, const std::vector<Ballot>& ballots) {
  std::vector<Seat> seats;
  std::map<PeerId, Ballot> by_peer;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    seats.push_back({peer_id(static_cast<int>(i)), accounts[i]});
    by_peer[seats.back().peer] = ballots[i];
  }
  return count_votes(seats, [&](const PeerId& peer) { return by_peer.at(peer); });
}

const Ballot kOpen{State::open};
const Ballot kGone{State::gone};
Ballot cast(std::size_t choice) { return {State::cast, choice}; }

SeatedGroup group_of(const std::vector<wire::MemberRole>& roles) {
  SeatedGroup group{SeatedGroup::Origin::dealt, {}, 5, {{}}, 100};
  group.id.bytes.fill(3);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    group.columns.front().push_back({peer_id(static_cast<int>(i)), 1 + static_cast<AccountId>(i), roles[i]});
  }
  return group;
}

}  // namespace

TEST_CASE("a choice is decided by more than half of all accounts, present or not") {
  CHECK(count({1}, {cast(0)}).decided == 0);
  CHECK_FALSE(count({1, 2}, {cast(0), kOpen}).decided);
  CHECK_FALSE(count({1, 2}, {cast(0), kGone}).decided);
  CHECK(count({1, 2}, {cast(0), cast(0)}).decided == 0);
  CHECK(count({1, 2, 3}, {cast(1), kGone, cast(1)}).decided == 1);
  CHECK_FALSE(count({1, 2, 3, 4}, {cast(1), cast(1), cast(0), cast(0)}).decided);
}

TEST_CASE("an account has one vote, however many computers it brings") {
  CHECK_FALSE(count({1, 1, 1, 1, 1, 2, 3}, {cast(0), cast(0), cast(0), cast(0), cast(0), kOpen, kOpen}).decided);
  CHECK(count({1, 1, 1, 1, 1, 2, 3}, {cast(0), cast(0), cast(0), cast(0), cast(0), cast(1), cast(1)}).decided == 1);
}

TEST_CASE("accounts on probation have no vote, unless nobody else could decide") {
  SeatedGroup group = group_of({wire::MemberRole::full, wire::MemberRole::full, wire::MemberRole::full});
  std::vector<Seat>& seats = group.columns.front();
  const auto first_alone = [](const PeerId& peer) { return peer == peer_id(0) ? cast(1) : cast(0); };
  seats[1].voice = seats[2].voice = false;
  let_somebody_decide(group);
  CHECK(count_votes(seats, first_alone).decided == 1);
  CHECK(accounts_among(seats, [](const PeerId&) { return true; }) == 1);
  const auto next = successor_of(group, std::vector<wire::Contribution>{{peer_id(0), 1}, {peer_id(1), 1}}, {});
  REQUIRE(next.has_value());
  CHECK(next->columns.front()[0].voice);
  CHECK_FALSE(next->columns.front()[1].voice);
  seats[0].voice = false;
  let_somebody_decide(group);
  CHECK(count_votes(seats, first_alone).decided == 0);
  for (Seat& seat : seats) seat.voice = false;
  seats[0].voice = true;
  seats[0].role = wire::MemberRole::late;  // it has no vote either
  let_somebody_decide(group);
  CHECK(count_votes(seats, first_alone).decided == 0);
}

TEST_CASE("an account's vote is what most of its seats say that are cast or may be; contradictions are no vote") {
  CHECK(count({1, 1, 1}, {cast(0), cast(0), cast(1)}).decided == 0);
  CHECK_FALSE(count({1, 1}, {cast(0), cast(1)}).decided);
  CHECK(count({1, 1}, {cast(0), cast(1)}).hopeless);
  CHECK_FALSE(count({1, 1}, {cast(0), kOpen}).decided);
  CHECK(count({1, 1}, {cast(0), kGone}).decided == 0);
}

TEST_CASE("a count is hopeless once no choice can get to a majority") {
  CHECK_FALSE(count({1, 2}, {cast(0), kOpen}).hopeless);
  CHECK(count({1, 2}, {cast(0), kGone}).hopeless);
  CHECK(count({1, 2, 3}, {cast(0), cast(1), kGone}).hopeless);
  CHECK_FALSE(count({1, 2, 3}, {cast(0), cast(1), kOpen}).hopeless);
  CHECK(count({1, 2, 3, 4}, {kOpen, kOpen, kGone, kGone}).hopeless);
  CHECK(count({}, {}).hopeless);
}

TEST_CASE("members that were late for a plan have no vote") {
  std::vector<Seat> seats{{peer_id(1), 1}, {peer_id(2), 2, wire::MemberRole::late}};
  CHECK(count_votes(seats, [](const PeerId& peer) { return peer == peer_id(1) ? cast(0) : kOpen; }).decided == 0);
  CHECK_FALSE(count_votes(seats, [](const PeerId& peer) { return peer == peer_id(2) ? cast(0) : kOpen; }).decided);
}

TEST_CASE("the successor that members compute is the one that is expected of them") {
  using enum wire::MemberRole;
  wire::GroupInfo plan;
  plan.round = 5;
  plan.vector_floats = 300;
  plan.id.bytes.fill(3);
  for (int i = 0; i < 4; ++i) {
    plan.members.push_back({{peer_id(i), "192.0.2.1", 1000}, i < 3 ? 100 : 0, "", i == 3 ? late : full});
  }
  const std::vector<SampleCount> contributed{10, 0, 20, 5};
  Digest state = first_state();
  const wire::GroupInfo expected = swarm::plan_successor(plan, contributed, state);
  std::vector<wire::Contribution> contributions;
  for (int i = 0; i < 4; ++i) contributions.push_back({peer_id(i), contributed[static_cast<std::size_t>(i)]});
  const auto successor = successor_of(group_of({full, full, full, late}), contributions, state);
  REQUIRE(successor);
  CHECK(successor->id == expected.id);
  CHECK(successor->round == 6);
  CHECK(successor->samples_max == 100);
  for (std::size_t i = 0; i < 4; ++i) CHECK(successor->columns[0][i].role == expected.members[i].role);
  state.bytes[0] ^= 1;
  CHECK(successor_of(group_of({full, full, full, late}), contributions, state)->id != expected.id);
  CHECK_FALSE(successor_of(group_of({full, full}), {}, state));
}

TEST_CASE("a group that was given up decides nothing, but is remembered") {
  ElectorateBook book;
  const SeatedGroup group = group_of({wire::MemberRole::full});
  book.seat(group);
  CHECK(book.deciding(5, group.id) != nullptr);
  CHECK(book.deciding(6, group.id) == nullptr);
  book.withdraw(group.id);
  CHECK(book.deciding(5).empty());
  CHECK(book.find(group.id) != nullptr);
  for (std::size_t i = 0; i < ElectorateBook::kGroupsMax; ++i) {
    SeatedGroup another = group;
    another.id.bytes.fill(static_cast<std::uint8_t>(100 + i));
    book.seat(another);
  }
  CHECK(book.find(group.id) == nullptr);
}

}  // namespace starling::core::testing
