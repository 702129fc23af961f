#include "client/storage/checkpoint_format.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <random>

using namespace starling;
using namespace starling::storage;

namespace {

const StateShape kShape{"run-a", 1000, 2};

CheckpointInfo an_info() {
  CheckpointInfo info{"run-a", 41, {}};
  info.state_digest.bytes.fill(0xab);
  return info;
}

std::string header_of(const std::string& head) { return head.substr(kHeaderLengthBytes); }

Result<std::size_t> length_of(std::uint64_t length, std::uint64_t file_bytes) {
  std::array<std::uint8_t, kHeaderLengthBytes> first{};
  std::memcpy(first.data(), &length, sizeof length);
  return decode_header_length(first, file_bytes, kShape);
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a header says what it was given, in the layout everyone can read") {
  const std::string head = encode_head(an_info(), kShape);
  CHECK(head.size() % 64 == 0);
  const std::string header = header_of(head);
  CHECK(header.find(R"("parameters":{"dtype":"F32","shape":[1000],"data_offsets":[0,4000]})") != std::string::npos);
  CHECK(header.find(R"("optimizer.2":{"dtype":"F32","shape":[1000],"data_offsets":[8000,12000]})") !=
        std::string::npos);
  const auto length = length_of(header.size(), head.size() + 12'000);
  REQUIRE(length.ok());
  CHECK(*length == header.size());
  const auto info = decode_header(header, kShape);
  REQUIRE(info.ok());
  CHECK(info->round == 41);
  CHECK(info->state_digest == an_info().state_digest);
}

TEST_CASE("lengths that do not fit the file or the limit are refused before anything is read") {
  CHECK_FALSE(length_of(kCheckpointHeaderMax + 1, kCheckpointHeaderMax + 1 + 8 + 12'000).ok());
  CHECK_FALSE(length_of(~std::uint64_t{0}, 12'008).ok());
  CHECK_FALSE(length_of(100, 12'107).ok());
  CHECK_FALSE(length_of(100, 12'109).ok());
  CHECK(length_of(100, 12'108).ok());
}

TEST_CASE("a header of another run, model, version or type is refused, and says where") {
  const std::string good = header_of(encode_head(an_info(), kShape));
  const struct {
    const char* from;
    const char* to;
    const char* named;
  } cases[] = {
      {"\"run-a\"", "\"run-b\"", "run_id"},
      {"starling-checkpoint-1", "starling-checkpoint-2", "format"},
      {"\"41\"", "\"-1\"", "round"},
      {"\"41\"", "\"41x\"", "round"},
      {"\"41\"", "\"99999999999999999999\"", "round"},
      {"abab", "xyab", "state_digest"},
      {"F32", "F16", "dtype"},
      {"[1000]", "[1001]", "shape"},
      {"[1000]", "[]", "shape"},
      {"[1000]", "[1000,1]", "shape"},
      {"[0,4000]", "[4,4004]", "data_offsets"},
      {"[0,4000]", "[0,-4000]", "data_offsets"},
      {"[4000,8000]", "[0,4000]", "data_offsets"},
      {"\"optimizer.1\"", "\"optimizer.3\"", "optimizer.1"},
      {"\"__metadata__\"", "\"metadata\"", "__metadata__"},
  };
  for (const auto& change : cases) {
    CAPTURE(change.to);
    std::string bad = good;
    replace(bad, change.from, change.to);
    const auto info = decode_header(bad, kShape);
    REQUIRE_FALSE(info.ok());
    CHECK(info.error().code == ErrorCode::corrupt);
    CHECK(info.error().message.find(change.named) != std::string::npos);
  }
}

TEST_CASE("truncated and nested headers are refused") {
  const std::string good = header_of(encode_head(an_info(), kShape));
  for (std::size_t length = 0; length < good.find_last_of('}'); ++length) {
    CHECK_FALSE(decode_header(good.substr(0, length), kShape).ok());
  }
  CHECK_FALSE(decode_header(std::string(kCheckpointHeaderMax, '['), kShape).ok());
}

TEST_CASE("random damage is refused or harmless") {
  std::mt19937_64 random(7);
  const std::string good = header_of(encode_head(an_info(), kShape));
  for (int i = 0; i < 5'000; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    const auto info = decode_header(bad, kShape);
    if (info.ok()) CHECK(info->round >= 0);
  }
}
