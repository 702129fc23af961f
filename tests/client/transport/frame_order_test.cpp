#include "client/transport/frame_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace starling;
using namespace starling::transport;

namespace {

wire::FrameHeader frame(std::uint32_t number, std::uint32_t payload_bytes = 100) {
  wire::FrameHeader header;
  header.type = wire::FrameType::result;
  header.payload_bytes = payload_bytes;
  header.number = number;
  return header;
}

// Takes the frame in; returns the numbers of those whose turn has come with it.
std::vector<std::uint32_t> put(FrameOrder& order, std::uint32_t number) {
  const auto turn = order.turn_of(frame(number));
  REQUIRE(turn.ok());
  REQUIRE(*turn != FrameOrder::Turn::wait);
  if (*turn == FrameOrder::Turn::early) {
    REQUIRE(order.hold({.header = frame(number), .wanted = true, .payload = {}}).ok());
    return {};
  }
  std::vector<std::uint32_t> delivered = {number};
  order.advance();
  while (const auto next = order.take_next()) {
    delivered.push_back(next->header.number);
    order.advance();
  }
  return delivered;
}

}  // namespace

TEST_CASE("frames that come in any order are delivered in theirs, each once") {
  std::mt19937 random(7);  // NOLINT: always the same
  std::vector<std::uint32_t> numbers(500);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  for (auto at = numbers.begin(); at < numbers.end(); at += 50) std::shuffle(at, at + 50, random);
  FrameOrder order;
  std::vector<std::uint32_t> delivered;
  for (const std::uint32_t number : numbers) {
    for (const std::uint32_t out : put(order, number)) delivered.push_back(out);
  }
  std::sort(numbers.begin(), numbers.end());
  CHECK((delivered == numbers));
  CHECK_FALSE(order.holds_frames());
}

TEST_CASE("a frame that was delivered or is held already is refused") {
  FrameOrder order;
  put(order, 0);
  put(order, 1);
  put(order, 5);
  CHECK_FALSE(order.turn_of(frame(0)).ok());
  CHECK_FALSE(order.turn_of(frame(1)).ok());
  CHECK_FALSE(order.turn_of(frame(5)).ok());
  // Two streams may have begun the same frame before either had it whole.
  CHECK_FALSE(order.hold({.header = frame(5), .wanted = false, .payload = {}}).ok());
  CHECK(order.turn_of(frame(2)).ok());
}

TEST_CASE("what is held has a limit; the frame that is due is never kept waiting") {
  FrameOrder order;
  const std::uint32_t large = FrameOrder::kHeldBytesMax / 2;
  for (const std::uint32_t number : {1U, 2U}) {
    CHECK(*order.turn_of(frame(number, large)) == FrameOrder::Turn::early);
    REQUIRE(order.hold({.header = frame(number, large), .wanted = true, .payload = {}}).ok());
  }
  CHECK(*order.turn_of(frame(3, 1)) == FrameOrder::Turn::wait);
  CHECK(*order.turn_of(frame(0, large)) == FrameOrder::Turn::now);
  CHECK(put(order, 0) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(*order.turn_of(frame(4, 1)) == FrameOrder::Turn::early);
  // Nor do many frames without a payload add up.
  for (std::uint32_t i = 0; i < FrameOrder::kHeldFramesMax; ++i) {
    REQUIRE(order.hold({.header = frame(4 + i, 0), .wanted = true, .payload = {}}).ok());
  }
  CHECK(*order.turn_of(frame(1'000'000, 0)) == FrameOrder::Turn::wait);
}

TEST_CASE("numbers go round without a gap") {
  FrameOrder order(0xfffffffe);
  CHECK(put(order, 0).empty());
  CHECK(put(order, 0xffffffff).empty());
  CHECK(put(order, 0xfffffffe) == std::vector<std::uint32_t>{0xfffffffe, 0xffffffff, 0});
  CHECK_FALSE(order.turn_of(frame(0xffffffff)).ok());
}
