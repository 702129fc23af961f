#include "client/transport/donation_budget.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace starling::transport {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::size_t kState = 1000;
constexpr PeerId kOne{{1}};
constexpr PeerId kTwo{{2}};
constexpr TimePoint kStart{hours(1000)};
constexpr DonationLimits kThreeDownloads{.downloads_per_day = 3, .bytes_per_day_min = 0};

}  // namespace

TEST_CASE("a peer gets so many states in a day, another peer as many, and the first one more the day after") {
  DonationBudget budget(kThreeDownloads);
  for (int i = 0; i < 3; ++i) CHECK(budget.spend(kStart + minutes(i), kOne, kState, kState).ok());
  const Status refused = budget.spend(kStart + hours(1), kOne, kState, 1);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find(kOne.brief()) != std::string::npos);
  CHECK(budget.spend(kStart + hours(1), kTwo, kState, 3 * kState).ok());
  CHECK_FALSE(budget.spend(kStart + hours(24), kOne, kState, 1).ok());
  CHECK(budget.spend(kStart + hours(25), kOne, kState, 3 * kState).ok());
}

TEST_CASE("no 24 hours hold more than a day's budget, however the requests are spread") {
  std::mt19937_64 random(7);
  DonationBudget budget(kThreeDownloads);
  struct Given {
    TimePoint at;
    std::size_t bytes;
  };
  std::vector<Given> given;
  TimePoint now = kStart;
  for (int i = 0; i < 5000; ++i) {
    now += minutes(random() % 40);
    const std::size_t bytes = random() % 300;
    if (!budget.spend(now, kOne, kState, bytes).ok()) continue;
    given.push_back({now, bytes});
    std::size_t in_a_day = 0;
    for (auto each = given.rbegin(); each != given.rend() && now - each->at < hours(24); ++each) {
      in_a_day += each->bytes;
    }
    REQUIRE(in_a_day <= 3 * kState);
  }
  CHECK(given.size() > 300);  // and the budget is used
}

TEST_CASE("small states have a budget in bytes") {
  DonationBudget budget({.downloads_per_day = 3, .bytes_per_day_min = 10 * kState});
  for (int i = 0; i < 10; ++i) CHECK(budget.spend(kStart, kOne, kState, kState).ok());
  CHECK_FALSE(budget.spend(kStart, kOne, kState, kState).ok());
}

TEST_CASE("once the coordinator names newcomers, a peer without a name gets nothing, and a name lasts a day") {
  DonationBudget budget(kThreeDownloads);
  CHECK(budget.spend(kStart, kOne, kState, 1).ok());  // an older coordinator names nobody
  budget.require_names(true);
  const Status refused = budget.spend(kStart, kOne, kState, 1);
  CHECK(refused.error().code == ErrorCode::permission_denied);
  CHECK(refused.error().message.find(kOne.brief()) != std::string::npos);
  budget.name(kStart, std::vector{kOne});
  CHECK(budget.spend(kStart, kOne, kState, kState).ok());
  CHECK_FALSE(budget.spend(kStart, kTwo, kState, kState).ok());
  CHECK(budget.spend(kStart + hours(23), kOne, kState, 1).ok());
  CHECK_FALSE(budget.spend(kStart + hours(24), kOne, kState, 1).ok());
}

TEST_CASE("bytes that were not sent after all may be asked for again") {
  DonationBudget budget(kThreeDownloads);
  CHECK(budget.spend(kStart, kOne, kState, 2 * kState).ok());
  CHECK(budget.spend(kStart + hours(2), kOne, kState, kState).ok());
  budget.give_back(kOne, kState + 1);
  CHECK(budget.spend(kStart + hours(2), kOne, kState, kState + 1).ok());
  CHECK_FALSE(budget.spend(kStart + hours(2), kOne, kState, 1).ok());
}

TEST_CASE("a crowd of peers does not push out what others have had") {
  DonationBudget budget({.downloads_per_day = 1, .bytes_per_day_min = 0, .peers_max = 2});
  CHECK(budget.spend(kStart, kOne, kState, kState).ok());
  CHECK(budget.spend(kStart, kTwo, kState, kState).ok());
  CHECK(budget.spend(kStart, PeerId{{3}}, kState, 1).error().code == ErrorCode::resource_exhausted);
  CHECK_FALSE(budget.spend(kStart, kOne, kState, 1).ok());
  CHECK(budget.spend(kStart + hours(25), PeerId{{3}}, kState, 1).ok());
}

}  // namespace starling::transport
