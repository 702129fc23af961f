#include "client/policy/turns.h"

#include <doctest/doctest.h>

#include <vector>

using namespace starling;
using namespace starling::policy;
using std::chrono::hours;
using std::chrono::minutes;

namespace {

constexpr TurnOptions kOptions;

std::size_t after(const std::vector<Claim>& claims, std::size_t current, Duration lasted, Duration untrained = {}) {
  return whose_turn(claims, current, {lasted, untrained}, kOptions);
}

}  // namespace

TEST_CASE("a turn is not cut short, however little the others have had") {
  CHECK(after({{1, 5000, false}, {1, 0, false}}, 0, minutes(59)) == 0);
  CHECK(after({{1, 5000, false}, {1, 0, false}}, 0, hours(1)) == 1);
}

TEST_CASE("by and by each is trained as long as its share says") {
  std::vector<Claim> claims = {{1, 0, false}, {2, 0, false}, {5, 0, false}};
  std::size_t current = 0;
  for (int turn = 0; turn < 800; ++turn) {
    claims[current].trained_s += 3600;
    current = after(claims, current, hours(1));
  }
  CHECK(claims[0].trained_s == doctest::Approx(100 * 3600.0).epsilon(0.02));
  CHECK(claims[1].trained_s == doctest::Approx(200 * 3600.0).epsilon(0.02));
  CHECK(claims[2].trained_s == doctest::Approx(500 * 3600.0).epsilon(0.02));
}

TEST_CASE("one that has nothing to train gives way at once, and is not asked again while it rests") {
  CHECK(after({{1, 0, false}, {1, 9000, false}}, 0, minutes(6), minutes(4)) == 0);
  CHECK(after({{1, 0, false}, {1, 9000, false}}, 0, minutes(6), minutes(5)) == 1);
  CHECK(after({{1, 0, true}, {1, 9000, false}}, 1, hours(2)) == 1);
  CHECK(after({{1, 0, false}, {1, 9000, true}}, 0, minutes(6), minutes(5)) == 0);
}

TEST_CASE("a project without a share is trained only where no other can be") {
  CHECK(after({{1, 9e9, false}, {0, 0, false}}, 0, hours(2)) == 0);
  CHECK(after({{1, 0, false}, {0, 0, false}}, 0, hours(2), minutes(5)) == 1);
  CHECK(after({{1, 9e9, false}, {0, 0, false}}, 1, hours(2)) == 0);
}

TEST_CASE("who joins later neither catches up nor waits") {
  const std::vector<Claim> old = {{2, 8000, false}, {1, 5000, false}};
  CHECK(trained_at_start(old) == 4000);
  CHECK(trained_at_start({}) == 0);
  CHECK(trained_at_start(std::vector<Claim>{{0, 70, false}}) == 0);
}
