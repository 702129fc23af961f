#include "coordinator/api/kept_copies.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace starling;
using starling::api::outdated_copies;
using Copies = std::vector<db::KeptCheckpoint>;

namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr WallTime kNow{20'000 * kDayMs + 30 * kMinuteMs};  // half past midnight
constexpr std::int64_t kNoLimit = INT64_MAX;

db::KeptCheckpoint copy_of(RoundIndex round, std::int64_t age_ms, std::int64_t bytes = 1) {
  db::KeptCheckpoint copy;
  copy.run_id = "poems";
  copy.round = round;
  std::memcpy(copy.artefact.bytes.data(), &round, sizeof round);
  copy.bytes = bytes;
  copy.at = {kNow.unix_ms - age_ms};
  return copy;
}

std::vector<RoundIndex> rounds_of(const Copies& copies) {
  std::vector<RoundIndex> rounds;
  for (const db::KeptCheckpoint& copy : copies) rounds.push_back(copy.round);
  std::sort(rounds.begin(), rounds.end());
  return rounds;
}

std::vector<RoundIndex> rounds_left(const Copies& copies, std::int64_t bytes_max = kNoLimit) {
  std::vector<RoundIndex> left = rounds_of(copies);
  for (const RoundIndex gone : rounds_of(outdated_copies(copies, kNow, bytes_max))) std::erase(left, gone);
  return left;
}

}  // namespace

TEST_CASE("the newest two copies stay, however old they are") {
  CHECK(rounds_left({copy_of(3, 40 * kDayMs), copy_of(2, 41 * kDayMs), copy_of(1, 42 * kDayMs)}) ==
        std::vector<RoundIndex>{2, 3});
  CHECK(outdated_copies({}, kNow, 0).empty());
}

TEST_CASE("the newest copy of each hour of the last day stays, and of each day of the last week") {
  Copies copies;
  RoundIndex round = 10'000;
  for (std::int64_t age = 0; age < 10 * kDayMs; age += 10 * kMinuteMs) copies.push_back(copy_of(round--, age));
  const auto left = rounds_left(copies);
  // The newest of the 25 hours that the last day touches, the second newest copy, and the newest of the six days before
  // yesterday (yesterday's newest is that of its last hour).
  REQUIRE(left.size() == 25 + 1 + 6);
  CHECK(left.back() == 10'000);
  CHECK(left[left.size() - 2] == 9'999);
  const auto age_of = [&](RoundIndex kept) { return (10'000 - kept) * 10 * kMinuteMs; };
  CHECK(age_of(left.front()) < 7 * kDayMs);
  CHECK(age_of(left.front()) > 6 * kDayMs);
}

TEST_CASE("a copy that is kept every minute ends as one an hour, and then as one a day") {
  Copies copies;
  RoundIndex round = 0;
  for (std::int64_t age = 9 * kDayMs; age >= 0; age -= 5 * kMinuteMs) {
    copies.push_back(copy_of(++round, age));
    const WallTime then{kNow.unix_ms - age};
    for (const db::KeptCheckpoint& gone : outdated_copies(copies, then, kNoLimit)) {
      std::erase_if(copies, [&](const auto& copy) { return copy.round == gone.round; });
    }
    REQUIRE(copies.size() <= 25 + 1 + 7);
  }
  CHECK(copies.size() >= 24 + 6);
}

TEST_CASE("too many bytes: the oldest copies go first, and two of each run stay") {
  Copies copies = {copy_of(5, 0, 40), copy_of(4, kHourMs, 40), copy_of(3, 2 * kHourMs, 40), copy_of(2, 3 * kHourMs, 40),
                   copy_of(1, 2 * kDayMs, 40)};
  CHECK(rounds_left(copies, 200) == std::vector<RoundIndex>{1, 2, 3, 4, 5});
  CHECK(rounds_left(copies, 199) == std::vector<RoundIndex>{2, 3, 4, 5});
  CHECK(rounds_left(copies, 120) == std::vector<RoundIndex>{3, 4, 5});
  CHECK(rounds_left(copies, 0) == std::vector<RoundIndex>{4, 5});

  for (RoundIndex round = 101; round <= 103; ++round) {
    copies.push_back(copy_of(round, (200 - round) * kHourMs / 2, 40));
    copies.back().run_id = "songs";
  }
  CHECK(rounds_left(copies, 200) == std::vector<RoundIndex>{3, 4, 5, 102, 103});
  CHECK(rounds_left(copies, 0) == std::vector<RoundIndex>{4, 5, 102, 103});
}

TEST_CASE("copies that share a file count once") {
  Copies copies = {copy_of(3, 0, 60), copy_of(2, kHourMs, 60), copy_of(1, 2 * kHourMs, 60)};
  copies[0].artefact = copies[2].artefact;
  CHECK(rounds_left(copies, 120) == std::vector<RoundIndex>{1, 2, 3});
  CHECK(rounds_left(copies, 119) == std::vector<RoundIndex>{2, 3});
}
