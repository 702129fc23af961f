#include "client/transport/frame_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace starling;
using namespace starling::transport;

namespace {

std::vector<std::uint8_t> frame_of(wire::FrameType type, const std::vector<std::uint8_t>& payload) {
  wire::FrameHeader header;
  header.type = type;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  std::vector<std::uint8_t> bytes(wire::kFrameHeaderBytes);
  wire::encode_header(header, std::span(bytes).first<wire::kFrameHeaderBytes>());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

std::vector<std::uint8_t> counting(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

// Feeds `stream` in pieces of at most `piece` bytes; returns the payloads that came out.
std::vector<std::vector<std::uint8_t>> read_all(FrameReader& reader, std::span<const std::uint8_t> stream,
                                                std::size_t piece, bool wanted) {
  std::vector<std::vector<std::uint8_t>> payloads;
  while (!stream.empty()) {
    const std::span<std::uint8_t> target = reader.target();
    REQUIRE_FALSE(target.empty());
    const std::size_t bytes = std::min({piece, target.size(), stream.size()});
    std::copy_n(stream.begin(), bytes, target.begin());
    stream = stream.subspan(bytes);
    auto event = reader.advance(bytes);
    REQUIRE(event.ok());
    if (*event == FrameReader::Event::header) *event = reader.begin_payload(wanted);
    if (*event == FrameReader::Event::frame) payloads.emplace_back(reader.payload().begin(), reader.payload().end());
  }
  return payloads;
}

}  // namespace

TEST_CASE("frames come out whole, however the bytes are cut") {
  std::vector<std::uint8_t> stream = frame_of(wire::FrameType::begin, counting(1000));
  for (const auto& frame : {frame_of(wire::FrameType::ping, {}), frame_of(wire::FrameType::done, counting(3))}) {
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  for (const std::size_t piece : {1U, 7U, 31U, 32U, 33U, 4096U}) {
    CAPTURE(piece);
    FrameReader reader;
    const auto payloads = read_all(reader, stream, piece, true);
    REQUIRE(payloads.size() == 3);
    CHECK(payloads[0] == counting(1000));
    CHECK(payloads[1].empty());
    CHECK(payloads[2] == counting(3));
  }
}

TEST_CASE("payloads that grow, and shrink by far, come out whole") {
  std::vector<std::uint8_t> stream;
  const std::vector<std::size_t> sizes{100, 200'000, 64'000, 100, 64'000, 900'000, 16 * 1024};
  for (const std::size_t size : sizes) {
    const auto frame = frame_of(wire::FrameType::contribution, counting(size));
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  FrameReader reader;
  const auto payloads = read_all(reader, stream, 50'000, true);
  REQUIRE(payloads.size() == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) CHECK((payloads[i] == counting(sizes[i])));
}

TEST_CASE("an unwanted payload is read past, and the next frame is not harmed") {
  std::vector<std::uint8_t> stream = frame_of(wire::FrameType::contribution, counting(900'000));
  FrameReader reader;
  const auto skipped = read_all(reader, stream, 4096, false);
  REQUIRE(skipped.size() == 1);
  CHECK(skipped[0].empty());
  const auto next = read_all(reader, frame_of(wire::FrameType::done, counting(9)), 4096, true);
  REQUIRE(next.size() == 1);
  CHECK(next[0] == counting(9));
}

TEST_CASE("a header beyond the limits is refused before any memory is set aside") {
  FrameReader reader;
  auto bytes = frame_of(wire::FrameType::contribution, {});
  const auto huge = static_cast<std::uint32_t>(wire::kFramePayloadMax + 1);
  std::memcpy(bytes.data() + 4, &huge, sizeof huge);
  std::copy(bytes.begin(), bytes.end(), reader.target().begin());
  CHECK(reader.advance(bytes.size()).status().error().code == ErrorCode::corrupt);
}
