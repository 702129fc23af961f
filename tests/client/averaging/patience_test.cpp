#include "client/averaging/patience.h"

#include <doctest/doctest.h>

#include "tests/client/averaging/round_parts.h"

using namespace starling;
using namespace starling::averaging;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kStart{};

wire::RankSet accused(std::size_t members, std::initializer_list<Rank> ranks) {
  wire::RankSet set(members);
  for (const Rank rank : ranks) set.set(rank);
  return set;
}

// Members that have been silent for longer than their limit.
std::vector<Patience::Due> due_at(const RoundParts& parts, TimePoint now) {
  std::vector<Patience::Due> due;
  for (Rank rank = 0; rank < parts.roster.size(); ++rank) {
    if (!parts.roster.live(rank)) continue;
    const Watch::Deadline deadline = parts.patience.deadline(now, rank, false);
    if (deadline.at <= now) due.push_back({rank, deadline});
  }
  return due;
}

}  // namespace

TEST_CASE("a member has until the begin deadline to begin, and is absent then") {
  RoundParts parts(plain_group(3, 8), 0);
  parts.patience.start(kStart, 700ms);
  CHECK(parts.patience.wake_at() == kStart);
  const Watch::Deadline due = parts.patience.deadline(kStart, 1, true);
  CHECK(due.at == kStart + 700ms);
  CHECK(due.fault == wire::Fault::absent);
}

TEST_CASE("a process that stood still moves the limits of the others by as much") {
  RoundParts parts(plain_group(3, 8), 1);
  parts.begin(kStart);
  parts.patience.on_woken(kStart);
  const TimePoint before = parts.patience.deadline(kStart, 2, true).at;
  parts.patience.suspect(kStart, {0, "reset"}, wire::Fault::gone);
  const TimePoint suspected = parts.patience.deadline(kStart, 0, true).at;
  CHECK(parts.patience.notice_oversleeping(kStart + 400ms) == Duration::zero());  // late by less than a ping's interval
  CHECK(parts.patience.notice_oversleeping(kStart + 10s) == 9750ms);
  CHECK(parts.patience.wake_at() == kStart + 10s);
  CHECK(parts.patience.deadline(kStart + 10s, 2, true).at == before + 9750ms);
  CHECK(parts.patience.deadline(kStart + 10s, 0, true).at == suspected + 9750ms);
}

TEST_CASE("the higher-ranked end of a broken link waits before it complains, for the first reason") {
  RoundParts parts(plain_group(3, 8), 1);
  parts.begin(kStart);
  CHECK(parts.patience.yields_to(0));
  CHECK_FALSE(parts.patience.yields_to(2));
  parts.patience.suspect(kStart + 1s, {0, "reset"}, wire::Fault::nonsense);
  parts.patience.suspect(kStart + 1100ms, {0, "closed"}, wire::Fault::gone);
  const Watch::Deadline due = parts.patience.deadline(kStart + 1s, 0, true);
  CHECK(due.at == kStart + 1250ms);
  CHECK(due.reason == "reset");
  CHECK(due.fault == wire::Fault::nonsense);
  CHECK(parts.patience.about_to_complain(kStart + 1s, 0, true) == wire::Fault::nonsense);
  CHECK_FALSE(parts.patience.about_to_complain(kStart + 900ms, 2, true));
}

TEST_CASE("one silent member is complained about at once") {
  RoundParts parts(plain_group(5, 8), 0);
  parts.begin(kStart);
  const TimePoint now = kStart + 2s;
  for (const Rank rank : {1, 2, 3}) parts.patience.watch().on_heard(now, rank, true);
  const auto casualties = parts.patience.casualties(now, due_at(parts, now));
  REQUIRE(casualties.size() == 1);
  CHECK(casualties[0].rank == 4);
  CHECK(casualties[0].deadline.fault == wire::Fault::silent);
}

TEST_CASE("a member that hears nobody doubts itself for a while, then complains about all") {
  RoundParts parts(plain_group(5, 8), 0);
  parts.begin(kStart);
  for (const Rank rank : {2, 3, 4}) parts.patience.watch().on_heard(kStart + 900ms, rank, true);
  const TimePoint now = kStart + 2100ms;  // the first one is due; the others are quiet, but not due yet
  REQUIRE(due_at(parts, now).size() == 1);
  CHECK(parts.patience.casualties(now, due_at(parts, now)).empty());
  const TimePoint end = kStart + 6s;
  CHECK(parts.patience.casualties(end, due_at(parts, end)).size() == 4);
  // Those that are heard again are not complained about at all.
  for (const Rank rank : {1, 2, 3, 4}) parts.patience.watch().on_heard(end, rank, true);
  CHECK(parts.patience.casualties(end, due_at(parts, end)).empty());
}

TEST_CASE("a complaint about most members is false when they are heard well here") {
  RoundParts parts(plain_group(5, 8), 1);
  parts.begin(kStart);
  const TimePoint now = kStart + 5s;
  for (const Rank rank : {0, 2, 3, 4}) parts.patience.watch().on_heard(now, rank, true);
  CHECK(parts.patience.is_false_accusation(now, accused(5, {1, 2, 3})));
  CHECK_FALSE(parts.patience.is_false_accusation(now, accused(5, {2, 3, 4})));       // not about this member
  CHECK_FALSE(parts.patience.is_false_accusation(now, accused(5, {1, 2})));          // most of the group goes on
  CHECK_FALSE(parts.patience.is_false_accusation(now + 5s, accused(5, {1, 2, 3})));  // this member hears nobody either
}
