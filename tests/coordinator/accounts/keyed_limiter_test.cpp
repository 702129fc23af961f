#include "coordinator/accounts/keyed_limiter.h"

#include <doctest/doctest.h>

namespace starling::accounts {

TEST_CASE("the limit of a key fills again with time") {
  const TimePoint start{std::chrono::hours(1)};
  KeyedLimiter limiter(7, start, {.burst = 2, .per_second = 0.5, .buckets = 1024});
  CHECK(limiter.take("one", start) == Duration{});
  CHECK(limiter.wait("one", start) == Duration{});
  CHECK(limiter.take("one", start) == Duration{});
  const Duration wait = limiter.take("one", start);
  CHECK(to_seconds(wait) == doctest::Approx(2));
  CHECK(limiter.wait("one", start) == wait);
  CHECK(limiter.take("another", start) == Duration{});
  CHECK(limiter.take("one", start + wait) == Duration{});
  CHECK(limiter.take("one", start + wait) > Duration{});
}

TEST_CASE("an IPv6 network is one address, and this machine's own addresses have no limit") {
  CHECK(limit_key("2001:db8::1") == limit_key("2001:db8::2"));
  CHECK(limit_key("2001:db8::1") != limit_key("2001:db8:0:1::1"));
  CHECK(limit_key("192.0.2.1") != limit_key("192.0.2.2"));
  CHECK(limit_key("::1").empty());
  CHECK(limit_key("127.0.0.1").empty());
}

}  // namespace starling::accounts
