#include "client/daemon/mirror_choice.h"

#include <doctest/doctest.h>

#include <set>

using namespace starling;
using namespace starling::daemon;
using namespace std::chrono_literals;
using Failure = MirrorChoice::Failure;

namespace {
constexpr TimePoint kStart{1000s};
}

TEST_CASE("a mirror that works is asked again, and volunteers are spread over all of them") {
  std::set<std::size_t> first;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    MirrorChoice mirrors(3, seed);
    const auto chosen = mirrors.choose(kStart);
    REQUIRE(chosen.has_value());
    mirrors.on_success(*chosen);
    CHECK(mirrors.choose(kStart + 1h) == chosen);
    first.insert(*chosen);
  }
  CHECK(first.size() == 3);
}

TEST_CASE("one that fails is left alone, longer each time, and asked again in the end") {
  MirrorChoice mirrors(2, 7);
  const std::size_t bad = *mirrors.choose(kStart);
  const Duration first = mirrors.on_failure(kStart, bad, Failure::unreachable);
  CHECK(mirrors.choose(kStart) != bad);
  CHECK(mirrors.choose(kStart + first) == bad);
  CHECK(mirrors.on_failure(kStart + first, bad, Failure::unreachable) > first);
  for (int i = 0; i < 40; ++i) CHECK(mirrors.on_failure(kStart, bad, Failure::unreachable) <= 5min);
  mirrors.on_success(bad);
  CHECK(mirrors.on_failure(kStart, bad, Failure::unreachable) == first);
}

TEST_CASE("one that serves wrong bytes is left alone for longer than one that is away") {
  MirrorChoice mirrors(2, 7);
  const Duration away = mirrors.on_failure(kStart, 0, Failure::unreachable);
  const Duration wrong = mirrors.on_failure(kStart, 1, Failure::wrong_bytes);
  CHECK(wrong >= 30s);
  CHECK(wrong > away);
  CHECK_FALSE(mirrors.choose(kStart).has_value());
  CHECK(mirrors.next_try(kStart) == kStart + away);
  CHECK(mirrors.choose(kStart + away) == 0);
}
