#include "tests/netlab/shaper.h"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/netlab/frame_bundle.h"

using namespace starling;
using namespace starling::netlab;

namespace {

constexpr std::size_t kFrameBytes = 1250;  // 0.1 ms at 100 Mbit/s

TimePoint at_us(std::int64_t us) { return TimePoint(std::chrono::microseconds(us)); }

Shaper::Frame frame(std::uint8_t mark) { return {{mark}, kFrameBytes, false}; }

std::vector<LinkSpec> two_homes(double up_mbit, double down_mbit, std::int64_t delay_ms) {
  return {2, LinkSpec{up_mbit, down_mbit, from_ms(delay_ms)}};
}

}  // namespace

TEST_CASE("a frame takes the uplink's time, both delays and the downlink's time") {
  Shaper shaper(two_homes(100, 50, 10), {});
  shaper.send(at_us(0), 0, 1, frame(1));
  CHECK_FALSE(shaper.arrived(at_us(20'299)).has_value());
  const auto delivery = shaper.arrived(at_us(20'300));
  REQUIRE(delivery.has_value());
  CHECK(delivery->to == 1);
  CHECK(delivery->frame.bytes == std::vector<std::uint8_t>{1});
  CHECK(shaper.next() == kNever);
}

TEST_CASE("frames keep their order and leave at the line's rate") {
  Shaper shaper(two_homes(100, 100, 0), {});
  for (std::uint8_t mark = 0; mark < 10; ++mark) shaper.send(at_us(0), 0, 1, frame(mark));
  for (std::uint8_t mark = 0; mark < 10; ++mark) {
    const TimePoint due = at_us(100 * (mark + 2));
    CHECK_FALSE(shaper.arrived(due - Duration(1)).has_value());
    const auto delivery = shaper.arrived(due);
    REQUIRE(delivery.has_value());
    CHECK(delivery->frame.bytes.front() == mark);
  }
}

TEST_CASE("what a full buffer does not hold is dropped") {
  ShaperOptions options;
  options.buffer = std::chrono::microseconds(450);
  Shaper shaper(two_homes(100, 100, 0), options);
  for (std::uint8_t mark = 0; mark < 10; ++mark) shaper.send(at_us(0), 0, 1, frame(mark));
  int arrived = 0;
  while (shaper.arrived(at_us(10'000))) ++arrived;
  CHECK(arrived == 5);
}

TEST_CASE("frames are lost at the rate asked for, spared ones never") {
  ShaperOptions options;
  options.loss = 0.1;
  options.buffer = std::chrono::hours(1);
  Shaper shaper(two_homes(100, 100, 0), options);
  int arrived = 0;
  int spared = 0;
  for (int i = 0; i < 10'000; ++i) shaper.send(at_us(0), 0, 1, frame(0));
  for (int i = 0; i < 100; ++i) shaper.send(at_us(0), 0, 1, {{1}, kFrameBytes, true});
  while (const auto delivery = shaper.arrived(at_us(100'000'000))) ++(delivery->frame.bytes[0] == 0 ? arrived : spared);
  CHECK(arrived > 8900);  // 9000 expected, standard deviation 30
  CHECK(arrived < 9100);
  CHECK(spared == 100);
}

TEST_CASE("frames of a bundle are lost one by one, and the others arrive") {
  constexpr std::size_t kSegments = 40;
  constexpr std::uint16_t kSegmentBytes = 1000;
  constexpr std::size_t kHeaders = kDeviceHeaderBytes + kEthernetBytes + 20 + 20;
  std::vector<std::uint8_t> bundle(kHeaders + kSegments * kSegmentBytes);
  const DeviceHeader device{.bundle_type = 1, .payload_bytes = kSegmentBytes};
  std::memcpy(bundle.data(), &device, kDeviceHeaderBytes);
  bundle[kDeviceHeaderBytes + kEthernetBytes] = 0x45;
  bundle[kHeaders - 8] = 0x50;
  ShaperOptions options;
  options.loss = 0.01;
  options.buffer = std::chrono::hours(1);
  Shaper shaper(two_homes(100, 100, 0), options);
  for (int i = 0; i < 1000; ++i) shaper.send(at_us(0), 0, 1, {bundle, wire_bytes(bundle), false});
  std::size_t arrived = 0;
  std::size_t pieces = 0;
  while (const auto delivery = shaper.arrived(at_us(1'000'000'000))) {
    arrived += frames_in(delivery->frame.bytes);
    CHECK(delivery->frame.wire_bytes == wire_bytes(delivery->frame.bytes));
    ++pieces;
  }
  CHECK(arrived > 39'500);  // 39 600 expected, standard deviation 20
  CHECK(arrived < 39'700);
  CHECK(pieces > 1200);  // 1000 and one more for nearly every loss
}

TEST_CASE("a frame for all takes its uplink once and reaches everybody else") {
  Shaper shaper(std::vector<LinkSpec>(3, LinkSpec{100, 100, Duration::zero()}), {});
  shaper.send_to_all(at_us(0), 1, frame(7));
  std::vector<std::size_t> reached;
  while (const auto delivery = shaper.arrived(at_us(200))) reached.push_back(delivery->to);
  CHECK(reached == std::vector<std::size_t>{0, 2});
}
