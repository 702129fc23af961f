#include "client/transport/widening.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::transport;
using namespace std::chrono_literals;
using Finding = LossWatch::Finding;

TEST_CASE("two losses on a line with room call for more streams, one or a full line does not") {
  Widening widening;
  widening.note(Finding::held_back);
  CHECK_FALSE(widening.is_due());
  widening.note(Finding::line_full);
  widening.note(Finding::held_back);
  CHECK_FALSE(widening.is_due());
  widening.note(Finding::nothing);
  widening.note(Finding::held_back);
  CHECK(widening.is_due());
  widening.forget_losses();
  CHECK_FALSE(widening.is_due());
}

TEST_CASE("the number of streams doubles, one at a time, up to the most") {
  Widening widening;
  widening.begin(2, 6);
  widening.on_asked();
  CHECK(widening.joining());
  CHECK_FALSE(widening.may_begin(TimePoint{} + 1s));
  CHECK(widening.on_joined(3));
  widening.on_asked();
  CHECK_FALSE(widening.on_joined(4));
  CHECK_FALSE(widening.joining());
  CHECK(widening.may_begin(TimePoint{} + 1s));
  widening.begin(4, 6);
  CHECK(widening.on_joined(5));
  CHECK_FALSE(widening.on_joined(6));
}

TEST_CASE("after a stream that could not be added, none is tried for a while") {
  Widening widening;
  const TimePoint now = TimePoint{} + 5s;
  widening.begin(1, 8);
  widening.on_asked();
  widening.on_failed(now, 1);
  CHECK_FALSE(widening.joining());
  CHECK_FALSE(widening.may_begin(now + Widening::kAgainAfter - 1ms));
  CHECK(widening.may_begin(now + Widening::kAgainAfter));
  CHECK_FALSE(widening.on_joined(2));  // one that comes all the same is enough
}
