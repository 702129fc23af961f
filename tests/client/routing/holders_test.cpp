#include "client/routing/holders.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::routing;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr wire::CellIndex kCell = 3;

PeerId peer(std::uint8_t number) {
  PeerId id;
  id.bytes.fill(number);
  return id;
}

struct Speed {
  double latency_s = 0;
  double each_s = 0;  // for every unit
};

// Makes a call that is answered.
void call(Holders& holders, TimePoint& now, const PeerId& holder, std::int64_t units, const Speed& speed) {
  const Holders::Sent sent = holders.on_sent(now, holder, units);
  now += from_seconds(speed.latency_s + speed.each_s * static_cast<double>(units));
  holders.on_answered(now, sent);
}

}  // namespace

TEST_CASE("a small call goes to the holder that is near, and a large one to the holder that is fast") {
  Holders holders;
  holders.set(kCell, {peer(1), peer(2)});
  TimePoint now = kStart;
  for (const std::int64_t units : {10, 200, 50, 100, 400, 20, 300, 10}) {
    call(holders, now, peer(1), units, {0.02, 0.010});  // near, and slow
    call(holders, now, peer(2), units, {0.20, 0.001});  // far, and fast
  }
  CHECK(holders.choose(now, kCell, 5, {}) == peer(1));
  CHECK(holders.choose(now, kCell, 200, {}) == peer(2));
  CHECK(holders.choose(now, kCell, 200, {peer(2)}) == peer(1));
  CHECK_FALSE(holders.choose(now, kCell, 200, {peer(1), peer(2)}));
  CHECK_FALSE(holders.choose(now, kCell + 1, 1, {}));
  // A call that is on its way there counts.
  const auto load = holders.on_sent(now, peer(2), 100'000);
  CHECK(holders.choose(now, kCell, 200, {}) == peer(1));
  CHECK(load.load == 100'000);
  CHECK(to_seconds(holders.late_at(load) - now) == doctest::Approx(100.2).epsilon(0.02));
  holders.on_given_up(now, load);
  CHECK(holders.choose(now, kCell, 200, {}) == peer(2));
}

TEST_CASE("who has never answered is tried, with one call at a time") {
  Holders holders;
  holders.set(kCell, {peer(1), peer(2)});
  TimePoint now = kStart;
  for (int i = 0; i < 5; ++i) call(holders, now, peer(1), 10, {0.05, 0});
  REQUIRE(holders.choose(now, kCell, 10, {}) == peer(2));
  const auto first = holders.on_sent(now, peer(2), 10);
  CHECK(holders.choose(now, kCell, 10, {}) == peer(1));
  // It is slow: what nobody waits for any more is a lesson, too.
  holders.on_given_up(now + from_seconds(4), first);
  CHECK(holders.choose(now, kCell, 10, {}) == peer(1));
}

TEST_CASE("a call is not late while its holder goes on answering those before it") {
  Holders holders;
  holders.set(kCell, {peer(1)});
  TimePoint now = kStart;
  for (const std::int64_t units : {10, 40, 20, 80, 30, 60, 50, 10}) call(holders, now, peer(1), units, {0.1, 0.01});
  const auto first = holders.on_sent(now, peer(1), 100);
  const auto second = holders.on_sent(now, peer(1), 100);
  CHECK(to_seconds(holders.late_at(first) - now) == doctest::Approx(1.1).epsilon(0.2));
  CHECK(to_seconds(holders.late_at(second) - now) == doctest::Approx(2.1).epsilon(0.2));
  // The line has become slow. The first answer says that the second call's turn has come just now.
  now += from_seconds(4);
  CHECK(holders.late_at(second) < now);
  holders.on_answered(now, first);
  CHECK(to_seconds(holders.late_at(second) - now) >= 1.1);
  // A silent holder is late in the end.
  CHECK(to_seconds(holders.late_at(second) - now) < 30);
}

TEST_CASE("who fails is left alone, longer each time, and who refuses as long as it says") {
  Holders holders;
  holders.set(kCell, {peer(1)});
  TimePoint now = kStart;
  for (const int alone_s : {1, 2, 4, 8, 16, 32, 60, 60}) {
    REQUIRE(holders.choose(now, kCell, 10, {}) == peer(1));
    holders.on_failed(now, holders.on_sent(now, peer(1), 10));
    CHECK_FALSE(holders.choose(now + from_seconds(alone_s - 0.1), kCell, 10, {}));
    CHECK(holders.free_at(kCell, {}) == now + std::chrono::seconds(alone_s));
    now += std::chrono::seconds(alone_s);
  }
  call(holders, now, peer(1), 10, {0.1, 0});
  holders.on_failed(now, holders.on_sent(now, peer(1), 10));
  CHECK(holders.free_at(kCell, {}) == now + std::chrono::seconds(1));
  now += std::chrono::seconds(1);
  holders.on_refused(holders.on_sent(now, peer(1), 10), now + std::chrono::seconds(7));
  CHECK(holders.free_at(kCell, {}) == now + std::chrono::seconds(7));
  CHECK(holders.free_at(kCell, {peer(1)}) == kNever);
  holders.set(kCell, {});
  CHECK_FALSE(holders.is_held(kCell));
}
