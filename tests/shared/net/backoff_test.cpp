#include "shared/net/backoff.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace starling;
using namespace std::chrono_literals;
using net::Backoff;
using net::TokenBucket;

namespace {
constexpr TimePoint kStart{};
}

TEST_CASE("delays stay under a ceiling that doubles with each failure up to the longest") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Backoff backoff(seed, {.first = 1s, .longest = 60s});
    Duration ceiling = 1s;
    for (int i = 0; i < 100; ++i) {
      const Duration delay = backoff.next_delay();
      CHECK(delay > Duration::zero());
      CHECK(delay <= ceiling);
      ceiling = std::min<Duration>(2 * ceiling, 60s);
    }
    CHECK(backoff.failures() == 100);
  }
}

TEST_CASE("delays use the whole range, so that a crowd spreads out") {
  Duration sum{};
  constexpr int kCrowd = 1000;
  for (std::uint64_t seed = 0; seed < kCrowd; ++seed) sum += Backoff(seed, {.first = 10s, .longest = 60s}).next_delay();
  // The mean of uniform draws from (0, 10 s], give or take five standard errors of 0.09 s.
  CHECK(to_seconds(sum) / kCrowd == doctest::Approx(5).epsilon(0.1));
}

TEST_CASE("equal seeds wait equally, others do not, and success starts over") {
  Backoff a(7);
  Backoff b(7);
  Backoff c(8);
  const Duration first = a.next_delay();
  CHECK(first == b.next_delay());
  CHECK(first != c.next_delay());
  for (int i = 0; i < 20; ++i) (void)a.next_delay();
  a.reset();
  CHECK(a.failures() == 0);
  CHECK(a.next_delay() <= 1s);
}

TEST_CASE("a first delay beyond the longest is cut to it") {
  Backoff backoff(1, {.first = 10min, .longest = 1s});
  for (int i = 0; i < 50; ++i) CHECK(backoff.next_delay() <= 1s);
}

TEST_CASE("a bucket gives its burst at once and its rate from then on") {
  TokenBucket bucket(10, 5, kStart);
  CHECK(bucket.try_take(5, kStart));
  CHECK(!bucket.try_take(1, kStart));
  CHECK(bucket.wait_for(1, kStart) >= 100ms);
  CHECK(bucket.wait_for(1, kStart) <= 101ms);
  CHECK(!bucket.try_take(1, kStart + 99ms));
  CHECK(bucket.try_take(1, kStart + 101ms));
}

TEST_CASE("waiting as long as the bucket says is always enough") {
  TokenBucket bucket(3, 7, kStart);
  TimePoint now = kStart;
  double taken = 0;
  for (int i = 0; i < 1000; ++i) {
    const double amount = 0.001 * (i * 37 % 7000);
    now += bucket.wait_for(amount, now);
    REQUIRE(bucket.try_take(amount, now));
    taken += amount;
  }
  // Everything beyond the burst had to be waited for, at 3 a second.
  CHECK(to_seconds(now - kStart) == doctest::Approx((taken - 7) / 3).epsilon(0.01));
}

TEST_CASE("a bucket never holds more than its burst, and time does not run backwards in it") {
  TokenBucket bucket(10, 5, kStart + 1h);
  CHECK(!bucket.try_take(5.1, kStart + 100h));
  CHECK(bucket.wait_for(5.1, kStart + 100h) == Duration::max());
  CHECK(bucket.try_take(5, kStart + 100h));
  CHECK(!bucket.try_take(1, kStart));
  CHECK(!bucket.try_take(1, kStart + 100h));
}

TEST_CASE("a bucket without a rate never refills") {
  TokenBucket bucket(0, 5, kStart);
  CHECK(bucket.try_take(5, kStart));
  CHECK(bucket.wait_for(1, kStart + 1h) == Duration::max());
}
