#include "coordinator/core/introductions.h"

#include <doctest/doctest.h>

#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/core/small_run.h"

using namespace starling;
using namespace starling::core;
using namespace starling::core::testing;
using namespace std::chrono_literals;

namespace {

const std::vector<wire::Endpoint> kDonors = {{peer_id(1), "203.0.113.1", 4000}, {peer_id(2), "203.0.113.2", 4000}};
constexpr TimePoint kStart{1h};

}  // namespace

TEST_CASE("each donor hears which newcomers were sent to it, for two minutes, and nobody else does") {
  Introductions introductions;
  introductions.introduce(kStart, peer_id(7), kDonors);
  introductions.introduce(kStart + 1s, peer_id(8), {&kDonors[1], 1});
  introductions.introduce(kStart + 1s, peer_id(8), {&kDonors[1], 1});  // it called again
  CHECK(introductions.newcomers_of(kStart + 2s, peer_id(1)) == std::vector{peer_id(7)});
  CHECK(introductions.newcomers_of(kStart + 2s, peer_id(2)) == std::vector{peer_id(7), peer_id(8)});
  CHECK(introductions.newcomers_of(kStart + 2s, peer_id(7)).empty());
  CHECK(introductions.newcomers_of(kStart + Introductions::kLast, peer_id(2)) == std::vector{peer_id(8)});
  introductions.sweep(kStart + Introductions::kLast + 1s);
  CHECK(introductions.newcomers_of(kStart, peer_id(2)).empty());
}

TEST_CASE("of a crowd of newcomers a donor hears the newest names that fit a reply") {
  Introductions introductions;
  for (int i = 0; i < 1000; ++i) introductions.introduce(kStart, peer_id(100 + i), kDonors);
  const std::vector<PeerId> newcomers = introductions.newcomers_of(kStart, peer_id(1));
  CHECK(newcomers.size() == wire::kNewcomersMax);
  CHECK(newcomers.back() == peer_id(1099));
}
