#include "tests/netlab/frame_bundle.h"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

using namespace starling::netlab;

namespace {

constexpr std::size_t kIpAt = kDeviceHeaderBytes + kEthernetBytes;
constexpr std::size_t kTcpAt = kIpAt + 20;
constexpr std::size_t kPayloadAt = kTcpAt + 32;  // with timestamps
constexpr std::uint16_t kSegmentBytes = 100;
constexpr std::uint8_t kFlags = 0x80 | 0x10 | 0x08 | 0x01;  // CWR, ACK, PSH, FIN
constexpr std::uint32_t kSequence = 0xffffff80;             // wraps around within a bundle
constexpr std::uint16_t kIdentity = 0xfffe;

std::uint32_t number_at(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + i];
  return value;
}

void put_at(std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t size, std::uint32_t value) {
  for (std::size_t i = size; i-- > 0; value >>= 8) bytes[at + i] = static_cast<std::uint8_t>(value);
}

std::uint32_t ones_sum(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < bytes.size(); i += 2) sum += number_at(bytes, i, 2);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// Content of TCP's checksum field before a device adds the rest: addresses, protocol and length.
std::uint32_t pseudo_sum(std::span<const std::uint8_t> frame) {
  return ones_sum(frame.subspan(kIpAt + 12, 8), 6 + static_cast<std::uint32_t>(frame.size() - kTcpAt));
}

// A bundle of TCP over IPv4, in the form that the kernel gives a card: the payload counts up.
std::vector<std::uint8_t> bundle_of(std::size_t payload) {
  std::vector<std::uint8_t> bytes(kPayloadAt + payload);
  const DeviceHeader device{.flags = 1,
                            .bundle_type = 1,
                            .headers_bytes = kPayloadAt - kDeviceHeaderBytes,
                            .payload_bytes = kSegmentBytes,
                            .checksum_start = kTcpAt - kDeviceHeaderBytes,
                            .checksum_offset = 16};
  std::memcpy(bytes.data(), &device, kDeviceHeaderBytes);
  bytes[kIpAt] = 0x45;
  put_at(bytes, kIpAt + 2, 2, static_cast<std::uint32_t>(bytes.size() - kIpAt));
  put_at(bytes, kIpAt + 4, 2, kIdentity);
  bytes[kIpAt + 9] = 6;
  put_at(bytes, kIpAt + 12, 4, 0x0a4d0001);
  put_at(bytes, kIpAt + 16, 4, 0x0a4d0002);
  put_at(bytes, kIpAt + 10, 2, ~ones_sum(std::span(bytes).subspan(kIpAt, 20)));
  put_at(bytes, kTcpAt + 4, 4, kSequence);
  bytes[kTcpAt + 12] = 0x80;
  bytes[kTcpAt + 13] = kFlags;
  put_at(bytes, kTcpAt + 16, 2, pseudo_sum(bytes));
  std::iota(bytes.begin() + kPayloadAt, bytes.end(), std::uint8_t{0});
  return bytes;
}

DeviceHeader device_of(const std::vector<std::uint8_t>& frame) {
  DeviceHeader device;
  std::memcpy(&device, frame.data(), kDeviceHeaderBytes);
  return device;
}

}  // namespace

TEST_CASE("a bundle has as many frames on the line as segments, each with headers of its own") {
  const auto bundle = bundle_of(5 * kSegmentBytes + 1);
  CHECK(frames_in(bundle) == 6);
  const std::size_t headers = kPayloadAt - kDeviceHeaderBytes;
  CHECK(wire_bytes(bundle) == 5 * kSegmentBytes + 1 + 6 * (headers + 24));
}

TEST_CASE("a single frame is one, whatever is in it") {
  std::vector<std::uint8_t> frame(kIpAt + 28);
  CHECK(frames_in(frame) == 1);
  CHECK(wire_bytes(frame) == kEthernetBytes + 28 + 24);
  CHECK(part_of(frame, 0, 1) == frame);
  CHECK(frames_in(std::vector<std::uint8_t>{7}) == 1);
}

TEST_CASE("parts of a bundle are what a receiver would have put together of the frames in them") {
  constexpr std::size_t kPayload = 5 * kSegmentBytes + 40;
  const auto bundle = bundle_of(kPayload);
  for (std::size_t first = 0; first < 6; ++first) {
    for (std::size_t count = 1; first + count <= 6; ++count) {
      CAPTURE(first);
      CAPTURE(count);
      const auto part = part_of(bundle, first, count);
      const std::size_t begin = first * kSegmentBytes;
      const std::size_t end = std::min(kPayload, begin + count * kSegmentBytes);
      REQUIRE(part.size() == kPayloadAt + end - begin);
      CHECK(std::equal(part.begin() + kPayloadAt, part.end(),
                       bundle.begin() + static_cast<std::ptrdiff_t>(kPayloadAt + begin)));
      CHECK(device_of(part).bundle_type == (count > 1 ? 1 : 0));
      CHECK(device_of(part).payload_bytes == (count > 1 ? kSegmentBytes : 0));
      CHECK(number_at(part, kIpAt + 2, 2) == part.size() - kIpAt);
      CHECK(number_at(part, kIpAt + 4, 2) == ((kIdentity + first) & 0xffff));
      CHECK(ones_sum(std::span(part).subspan(kIpAt, 20)) == 0xffff);
      CHECK(number_at(part, kTcpAt + 4, 4) == static_cast<std::uint32_t>(kSequence + begin));
      CHECK(((part[kTcpAt + 13] & 0x80) != 0) == (first == 0));
      CHECK(((part[kTcpAt + 13] & 0x09) != 0) == (first + count == 6));
      CHECK(number_at(part, kTcpAt + 16, 2) == pseudo_sum(part));
      CHECK(frames_in(part) == count);
    }
  }
  CHECK(part_of(bundle, 0, 6) == bundle);
}
