#include "shared/base/log_limit.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("one line in a while is let through, with the number of those kept back") {
  LogLimit limit(std::chrono::seconds(10));
  const TimePoint start = TimePoint(std::chrono::seconds(100));
  CHECK(limit.admit(start) == 0);
  CHECK_FALSE(limit.admit(start).has_value());
  CHECK_FALSE(limit.admit(start + std::chrono::seconds(9)).has_value());
  CHECK(limit.admit(start + std::chrono::seconds(10)) == 2);
  CHECK(limit.admit(start + std::chrono::seconds(20)) == 0);
  CHECK(more_of_them(2) == " (2 more since the last such line)");
  CHECK(more_of_them(0).empty());
}
