#include "client/session/coordinator_link.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::session;

namespace {
constexpr TimePoint kStart{std::chrono::seconds(1000)};
}

TEST_CASE("calls follow the interval the coordinator names") {
  CoordinatorLink link(1);
  CHECK(link.due(kStart));
  link.on_sent(kStart);
  CHECK_FALSE(link.due(kStart + std::chrono::hours(1)));
  link.on_reply(kStart, std::chrono::seconds(2));
  CHECK_FALSE(link.due(kStart + std::chrono::milliseconds(1999)));
  CHECK(link.due(kStart + std::chrono::seconds(2)));
}

TEST_CASE("news during a call is told right after it") {
  CoordinatorLink link(1);
  link.on_sent(kStart);
  link.hurry(kStart);
  link.on_reply(kStart + std::chrono::milliseconds(30), std::chrono::seconds(10));
  CHECK(link.due(kStart + std::chrono::milliseconds(30)));
}

TEST_CASE("failures are followed by growing, bounded waits that news does not shorten") {
  CoordinatorLink link(1);
  TimePoint now = kStart;
  Duration last{};
  for (int i = 0; i < 12; ++i) {
    link.on_sent(now);
    link.on_failed(now);
    last = link.next_call() - now;
    CHECK(last > Duration::zero());
    CHECK(last <= std::chrono::seconds(5));
    link.hurry(now);
    CHECK(link.next_call() - now == last);
    now = link.next_call();
  }
  CHECK(last >= std::chrono::milliseconds(2500));
}

TEST_CASE("a coordinator that never answered is away, too") {
  CoordinatorLink link(1);
  link.on_sent(kStart);
  link.on_failed(kStart);
  CHECK_FALSE(link.away(kStart + std::chrono::seconds(60)));
  link.on_sent(kStart + std::chrono::seconds(1));
  link.on_failed(kStart + std::chrono::seconds(1));
  CHECK_FALSE(link.away(kStart + std::chrono::seconds(2)));
  CHECK(link.away(kStart + std::chrono::seconds(4)));
}

TEST_CASE("away means failed calls and a silence longer than the coordinator's own rhythm") {
  CoordinatorLink link(1);
  link.on_sent(kStart);
  link.on_reply(kStart, std::chrono::seconds(4));
  CHECK_FALSE(link.away(kStart + std::chrono::hours(1)));  // nobody tried
  link.on_sent(kStart + std::chrono::seconds(4));
  link.on_failed(kStart + std::chrono::seconds(4));
  CHECK_FALSE(link.away(kStart + std::chrono::seconds(60)));  // one lost call proves nothing
  link.on_sent(kStart + std::chrono::seconds(5));
  link.on_failed(kStart + std::chrono::seconds(5));
  CHECK_FALSE(link.away(kStart + std::chrono::seconds(11)));
  CHECK(link.away(kStart + std::chrono::seconds(13)));
  link.on_sent(kStart + std::chrono::seconds(13));
  link.on_reply(kStart + std::chrono::seconds(13), std::chrono::seconds(4));
  CHECK_FALSE(link.away(kStart + std::chrono::seconds(20)));
}
