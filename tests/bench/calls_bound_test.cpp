#include "tests/bench/calls_bound.h"

#include <doctest/doctest.h>

#include <vector>

#include "shared/wire/codec.h"

using namespace starling;
using namespace starling::bench;

namespace {

constexpr CalledModel kModel{.layers = 1, .width = 100, .active = 5, .bytes_per_value = 1};  // 1000 bytes

std::vector<netlab::LinkSpec> lines(const char* text) { return *netlab::parse_links(text); }

}  // namespace

TEST_CASE("four equal lines carry four times what one volunteer that calls and holds has of its own") {
  CHECK(caller_bytes_per_token(kModel) == doctest::Approx(1000));
  CHECK(swarm_tokens_per_s(kModel, lines("100x4")) == doctest::Approx(4 * 0.94 * 12.5e6 / 2000));
  // 512 values, 4 layers, 2 experts, int8 at 100 Mbit/s: 706 tokens a second each.
  constexpr std::size_t kValues = 1 << 16;
  const CalledModel small{4, 512, 2, static_cast<double>(wire::encoded_bytes(wire::Codec::int8, kValues)) / kValues};
  CHECK(swarm_tokens_per_s(small, lines("100x4")) / 4 == doctest::Approx(706).epsilon(0.01));
}

TEST_CASE("a caller that holds nothing has its line to itself") {
  CHECK(caller_tokens_per_s(kModel, lines("20x2").front()) == doctest::Approx(0.94 * 2.5e6 / 1000));
  CHECK(caller_tokens_per_s(kModel, lines("80:20x2").front()) == doctest::Approx(0.94 * 2.5e6 / 1000));
}

TEST_CASE("unequal lines count by their sum") {
  CHECK(swarm_tokens_per_s(kModel, lines("100x3,10")) == doctest::Approx(0.94 * 310 * 0.125e6 / 2000));
}

TEST_CASE("a line that is longer than all others together is not full") {
  CHECK(swarm_tokens_per_s(kModel, lines("100,10x2")) == doctest::Approx(0.94 * 20 * 0.125e6 / 1000));
}
