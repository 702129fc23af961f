#include "client/transport/record_meter.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using starling::transport::RecordMeter;

namespace {

// An encrypted record that holds so many bytes of plaintext.
std::vector<std::uint8_t> record(std::size_t plaintext) {
  const std::size_t body = plaintext + 17;
  std::vector<std::uint8_t> bytes = {23, 3, 3, static_cast<std::uint8_t>(body >> 8), static_cast<std::uint8_t>(body)};
  bytes.resize(bytes.size() + body, 0xff);
  return bytes;
}

}  // namespace

TEST_CASE("at every byte of a stream of records, no more is asked for than must come") {
  const std::vector<std::size_t> sizes = {1, 32, 16384, 300, 4000};
  std::vector<std::uint8_t> stream;
  std::size_t plaintext = 0;
  for (const std::size_t size : sizes) {
    const auto bytes = record(size);
    stream.insert(stream.end(), bytes.begin(), bytes.end());
    plaintext += size;
  }
  RecordMeter meter;
  std::size_t readable = 0;  // plaintext of the whole records so far
  std::size_t next = 0;      // record under way
  std::size_t ends_at = record(sizes[0]).size();
  for (std::size_t at = 0; at < stream.size(); ++at) {
    const std::size_t before_all = meter.bytes_before(plaintext - readable);
    REQUIRE(before_all <= stream.size() - at);
    REQUIRE(stream.size() - at - before_all <= 22 * (sizes.size() - next));  // and little less
    const std::size_t before_any = meter.bytes_before(1);
    REQUIRE(before_any >= 1);
    REQUIRE(before_any <= ends_at - at);
    meter.note({&stream[at], 1});
    if (at + 1 < ends_at) continue;
    readable += sizes[next];
    if (++next < sizes.size()) ends_at += record(sizes[next]).size();
  }
  CHECK(meter.bytes_before(1) == 1);
}

TEST_CASE("the pieces in which a stream comes in do not matter") {
  std::vector<std::uint8_t> stream;
  for (const std::size_t size : {700, 16384, 5}) {
    const auto bytes = record(size);
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  for (const std::size_t piece : {1U, 3U, 7U, 1000U, 65536U}) {
    RecordMeter meter;
    for (std::size_t at = 0; at + 10 < stream.size(); at += piece) {
      const std::size_t end = std::min(at + piece, stream.size() - 10);
      meter.note(std::span(stream).subspan(at, end - at));
    }
    CHECK(meter.bytes_before(1) == 10);
    CHECK(meter.bytes_before(5) == 10);
    CHECK(meter.bytes_before(105) == 110);
  }
}
