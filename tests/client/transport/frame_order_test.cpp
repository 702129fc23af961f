#include "client/transport/frame_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <vector>

using namespace starling;
using namespace starling::transport;

namespace {

using Turn = FrameOrder::Turn;

constexpr auto kPlaced = wire::FrameType::begin;
constexpr auto kFree = wire::FrameType::result;

wire::FrameHeader frame(std::uint32_t number, wire::FrameType type = kPlaced) {
  wire::FrameHeader header;
  header.type = type;
  header.number = number;
  return header;
}

}  // namespace

TEST_CASE("what is told apart by its segment, and signs of life, may overtake each other, and nothing else") {
  using enum wire::FrameType;
  for (const auto type : {contribution, result, state_chunk, call_data, answer_data, ping, pong}) {
    CHECK_FALSE(wire::keeps_order(type));
  }
  for (const auto type : {widen, begin, inventory, done, want, listen, over, state_request, state_info, call, answer,
                          call_off, refusal, weights}) {
    CHECK(wire::keeps_order(type));
  }
}

TEST_CASE("frames of both kinds on several streams: each once, and each that keeps its place where it was sent") {
  std::mt19937 random(11);  // NOLINT: a fixed seed
  for (int run = 0; run < 50; ++run) {
    FrameCount count(run % 2 == 0 ? 0 : 0xffffffe0);  // numbers wrap around
    FrameOrder order(count);
    std::array<std::deque<wire::FrameHeader>, 8> streams;
    constexpr std::uint32_t kFrames = 200;
    std::vector<bool> placed;
    for (std::uint32_t i = 0; i < kFrames; ++i) {
      const auto type = random() % 5 == 0 ? kPlaced : kFree;
      wire::FrameHeader header = frame(count.number(type), type);
      header.segment = i;
      streams[random() % streams.size()].push_back(header);
      placed.push_back(type == kPlaced);
      count.add(type);
    }
    std::vector<std::uint32_t> delivered;
    while (delivered.size() < kFrames) {
      // Some stream's next frame always has its turn, whatever the others deliver.
      std::vector<std::deque<wire::FrameHeader>*> can;
      for (auto& stream : streams) {
        if (!stream.empty() && order.turn_of(stream.front()) == Turn::now) can.push_back(&stream);
      }
      REQUIRE_FALSE(can.empty());
      auto& stream = *can[random() % can.size()];
      delivered.push_back(stream.front().segment);
      order.advance(stream.front().type);
      stream.pop_front();
    }
    for (std::uint32_t i = 0; i < kFrames; ++i) {
      if (placed[i]) CHECK(delivered[i] == i);
    }
    std::sort(delivered.begin(), delivered.end());
    CHECK(std::adjacent_find(delivered.begin(), delivered.end()) == delivered.end());
  }
}

TEST_CASE("what may overtake waits for what keeps its place alone, which waits for all before it") {
  FrameOrder order;
  CHECK(order.turn_of(frame(0, kFree)) == Turn::now);
  CHECK(order.turn_of(frame(3, kFree)) == Turn::early);  // behind the third frame, which keeps its place
  CHECK(order.turn_of(frame(2)) == Turn::early);
  order.advance(kFree);
  CHECK(order.turn_of(frame(0, kFree)) == Turn::now);
  CHECK(order.turn_of(frame(2)) == Turn::early);
  order.advance(kFree);
  CHECK(order.turn_of(frame(2)) == Turn::now);
  order.advance(kPlaced);
  CHECK(order.turn_of(frame(2)) == Turn::past);
  CHECK(order.turn_of(frame(0, kFree)) == Turn::past);  // all frames before it have arrived
  CHECK(order.turn_of(frame(3, kFree)) == Turn::now);
}
