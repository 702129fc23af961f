#include "client/transport/line_limit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "client/transport/state_snapshot.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;
using namespace std::chrono_literals;

namespace {

constexpr double kOnTheLine = 1.04;  // bytes on the line for a byte of payload: headers

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Bytes sent or received, relative to the limit in that time.
double part_used(std::int64_t bytes, double seconds, double limit) {
  return static_cast<double>(bytes) * kOnTheLine / (seconds * limit);
}

}  // namespace

TEST_CASE("a turn that comes while it is asked for is given later, when the asker waits") {
  // Time passes between any two looks at it.
  class TickingClock final : public Clock {
   public:
    [[nodiscard]] TimePoint now() const override { return now_ += 7ms; }
    [[nodiscard]] WallTime wall_now() const override { return SystemClock().wall_now(); }

   private:
    mutable TimePoint now_{};
  };
  const TickingClock clock;
  asio::io_context io;
  net::LineBudget budget;
  LineLimit limit(io, clock, budget);
  limit.set(1e6);
  for (int i = 0; i < 20; ++i) {
    limit.passed(std::min<std::size_t>(limit.ask(1'000'000, [] {}), 100'000));
    bool called = false;
    if (limit.ask(1'000'000, [&called] { called = true; }) > 0) continue;
    CHECK_FALSE(called);
    io.run_for(1s);
    io.restart();
    CHECK(called);
  }
}

// The first of the rounds shows the line's speed; the last ones move in ticks. A machine that is busy or stands still
// for a second delays rounds, but hardly all of them.
TEST_CASE("rounds take as long as the slowest limit allows, and are right") {
  const Project project;
  Members members = make_members(project, 3);
  check_exact_round(members, plan_of(members, 30'000));  // links are up after it
  constexpr double kLimit = 4e6;
  SUBCASE("of an upload") { members[0]->net->limit(kLimit, 0); }
  SUBCASE("of a download") { members[0]->net->limit(0, kLimit); }
  const auto bytes_sent = [&] { return members[0]->net->stats().round_bytes_sent; };  // equally many are received
  const std::int64_t before = bytes_sent();
  const auto began = std::chrono::steady_clock::now();
  double best = 0;
  for (std::int64_t round = 1; round <= 5; ++round) {
    const std::int64_t sent = bytes_sent();
    const auto at = std::chrono::steady_clock::now();
    check_exact_round(members, plan_of(members, 500'000, round));
    if (round > 1) best = std::max(best, part_used(bytes_sent() - sent, seconds_since(at), kLimit));
  }
  const double seconds = seconds_since(began);
  const NetworkStats after = members[0]->net->stats();
  // In three seconds, a tenth of a second's worth may pass at once.
  CHECK(part_used(after.round_bytes_sent - before, seconds, kLimit) < 1.04);
  CHECK(best > 0.75);
  CHECK(std::min(after.upload_bytes_per_s, after.download_bytes_per_s) <= kLimit);
  for (const auto& member : members) member->net->limit(0, 0);
  check_exact_round(members, plan_of(members, 1'500'000, 6));
}

TEST_CASE("who waits under a limit is not taken for dead") {
  const Project project;
  Members members = make_members(project, 4);
  check_exact_round(members, plan_of(members, 30'000));
  members[1]->net->limit(62'500, 62'500);  // half a megabit: a second for every 15 000 floats
  check_exact_round(members, plan_of(members, 60'000, 1));
}
