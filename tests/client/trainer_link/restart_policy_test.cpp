#include "client/trainer_link/restart_policy.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::trainer_link;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {
constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr RestartOptions kOptions{
    .first_delay = milliseconds(100), .longest_delay = seconds(10), .deaths_per_minute = 4};
}  // namespace

TEST_CASE("a trainer that never died may start at once") { CHECK(RestartPolicy(kOptions).next_start() < kStart); }

TEST_CASE("the delay doubles while the trainer keeps dying, and starts over after a success") {
  RestartPolicy policy(kOptions);
  policy.on_death(kStart);
  CHECK(policy.next_start() == kStart + milliseconds(100));
  policy.on_death(kStart);
  CHECK(policy.next_start() == kStart + milliseconds(200));
  policy.on_success();
  policy.on_death(kStart);
  CHECK(policy.next_start() == kStart + milliseconds(100));
}

TEST_CASE("too many deaths within a minute stop it until the oldest is a minute ago") {
  RestartPolicy policy(kOptions);
  for (int i = 0; i < 4; ++i) {
    policy.on_success();
    policy.on_death(kStart + seconds(5 * i));
  }
  CHECK(policy.exhausted(kStart + seconds(15)));
  CHECK(policy.next_start() == kStart + seconds(60));
  CHECK_FALSE(policy.exhausted(kStart + seconds(60)));
}

TEST_CASE("deaths far apart never add up") {
  RestartPolicy policy(kOptions);
  for (int i = 0; i < 50; ++i) {
    const TimePoint now = kStart + seconds(20 * i);
    CHECK_FALSE(policy.exhausted(now));
    policy.on_success();
    policy.on_death(now);
  }
}

TEST_CASE("the delay has an end") {
  RestartPolicy policy(kOptions);
  TimePoint now = kStart;
  for (int i = 0; i < 100; ++i) policy.on_death(now += seconds(60));
  CHECK(policy.next_start() == now + seconds(10));
}
