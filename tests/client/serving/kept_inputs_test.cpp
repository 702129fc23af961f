#include "client/serving/kept_inputs.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/client/serving/callers.h"

using namespace starling;
using namespace starling::serving;

namespace {

constexpr Duration kKeep = std::chrono::seconds(5);

}  // namespace

TEST_CASE("inputs are kept for the caller, the cell and the units that they came for") {
  KeptInputs kept(kKeep);
  const Call forth = call_of(1, 1, 2);
  kept.add(at(0), forth, {1, 2, 3, 4});
  CHECK(kept.bytes() == 16);
  const Call back = back_of(forth, 2);
  CHECK(kept.has(back));
  Call other = back;
  SUBCASE("another caller") { other.key.caller = peer(2); }
  SUBCASE("another call") { other.kept = id_of(7); }
  SUBCASE("another cell") { other.cell = 1; }
  SUBCASE("other rows") { other.rows = {1, 0}; }
  SUBCASE("other experts") { other.counts = {1, 1, 0}; }
  SUBCASE("fewer inputs") { other.inputs = 1; }
  SUBCASE("none are named") { other.kept.reset(); }
  CHECK_FALSE(kept.has(other));
  CHECK(kept.take(back) == std::vector<float>{1, 2, 3, 4});
  CHECK_FALSE(kept.has(back));
  CHECK(kept.bytes() == 0);
}

TEST_CASE("inputs are given up by age, time, caller or cell") {
  KeptInputs kept(kKeep);
  std::vector<Call> backs;
  for (int number = 0; number < 4; ++number) {
    Call forth = call_of(1 + number % 2, number, 1);
    forth.cell = number / 2;
    kept.add(at(number), forth, {1, 2});
    backs.push_back(back_of(forth, 100 + number));
  }
  const auto left = [&] {
    std::vector<bool> left;
    for (const Call& back : backs) left.push_back(kept.has(back));
    return left;
  };
  CHECK(kept.next_deadline() == at(5));
  std::vector<bool> expected;
  SUBCASE("age") {
    kept.give_up_oldest();
    expected = {false, true, true, true};
  }
  SUBCASE("time") {
    kept.on_timer(at(6));
    expected = {false, false, true, true};
    CHECK(kept.next_deadline() == at(7));
  }
  SUBCASE("caller") {
    kept.forget_caller(peer(1));
    expected = {false, true, false, true};
  }
  SUBCASE("cell") {
    kept.forget_cell(1);
    expected = {true, true, false, false};
  }
  SUBCASE("all") {
    kept.forget_all();
    expected = {false, false, false, false};
    CHECK(kept.next_deadline() == kNever);
  }
  CHECK(left() == expected);
  CHECK(kept.bytes() == 8 * static_cast<std::uint64_t>(std::ranges::count(expected, true)));
}

TEST_CASE("inputs of a call with an id that is used again take the place of the older ones") {
  KeptInputs kept(kKeep);
  const Call forth = call_of(1, 1, 1);
  kept.add(at(0), forth, {1, 2});
  kept.add(at(1), forth, {3, 4});
  CHECK(kept.bytes() == 8);
  CHECK(kept.next_deadline() == at(6));
  CHECK(kept.take(back_of(forth, 2)) == std::vector<float>{3, 4});
}
