#include "client/transport/upload_probe.h"

#include <doctest/doctest.h>

#include "client/transport/link.h"
#include "shared/wire/frames.h"

using namespace starling;
using namespace starling::transport;

namespace {

constexpr TimePoint kStart{std::chrono::seconds(100)};
constexpr std::int64_t kLargeState = 64 * 1024 * 1024;
constexpr std::int64_t kBefore = 12345;  // bytes acknowledged before
// Two links, of which only the addresses matter.
struct alignas(Link) Place {
  char of_a_link = 0;
};
const Place kPlaces[2];
const Link* const kLink = reinterpret_cast<const Link*>(&kPlaces[0]);
const Link* const kOther = reinterpret_cast<const Link*>(&kPlaces[1]);

std::int64_t send_all(UploadProbe& probe) {
  std::int64_t bytes = 0;
  for (FrameToSend frame; probe.next_frame(kLink, frame);)
    bytes += static_cast<std::int64_t>(frame.frame.payload.size());
  return bytes;
}

// The speed that the probe shows for a line of that speed, observed as often as the hub does.
double shown_by(UploadProbe& probe, double bytes_per_s) {
  for (TimePoint now = kStart; probe.running(); now += std::chrono::milliseconds(50)) {
    const auto moved =
        std::min(UploadProbe::kBytesMax, static_cast<std::int64_t>(to_seconds(now - kStart) * bytes_per_s));
    if (const double rate = probe.note(now, kBefore + moved); rate > 0) return rate;
    REQUIRE(now <= kStart + UploadProbe::kTimeMax);
  }
  return 0;
}

}  // namespace

TEST_CASE("a probe finds what a line carries, be it slow or fast, and ends soon") {
  for (const double speed : {20e3, 125e3, 1.25e6, 12.5e6}) {
    CAPTURE(speed);
    UploadProbe probe;
    probe.begin(kStart, kLink, kLargeState, kBefore);
    CHECK(send_all(probe) == UploadProbe::kBytesMax);
    CHECK(shown_by(probe, speed) == doctest::Approx(speed).epsilon(0.2));
    CHECK_FALSE(probe.running());
  }
}

TEST_CASE("a probe costs no more than a part of the download, and none of a small one") {
  UploadProbe probe;
  probe.begin(kStart, kLink, 4 * 1024 * 1024, kBefore);
  CHECK(send_all(probe) == 1024 * 1024);
  UploadProbe none;
  none.begin(kStart, kLink, 1000 * 1000, kBefore);
  CHECK(none.begun());
  CHECK_FALSE(none.running());
  CHECK(send_all(none) == 0);
}

TEST_CASE("what a probe sends is read past by any peer, on its link alone, and a lost link is followed by another") {
  UploadProbe probe;
  probe.begin(kStart, kLink, kLargeState, kBefore);
  FrameToSend frame;
  CHECK_FALSE(probe.next_frame(kOther, frame));
  REQUIRE(probe.next_frame(kLink, frame));
  const auto head =
      std::span<const std::uint8_t, wire::kFrameHeaderBytes>(frame.frame.head.data(), wire::kFrameHeaderBytes);
  const auto header = wire::decode_header(head);
  REQUIRE(header.ok());
  CHECK(header->type == wire::FrameType::state_chunk);
  CHECK(header->group.is_zero());
  CHECK(header->payload_bytes == frame.frame.payload.size());
  probe.forget(kOther);
  CHECK(probe.running());
  probe.forget(kLink);
  CHECK_FALSE(probe.running());
  CHECK(probe.note(kStart + std::chrono::seconds(9), kBefore + 1) == 0);
  CHECK_FALSE(probe.begun());
}
