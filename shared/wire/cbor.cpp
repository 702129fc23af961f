#include "shared/wire/cbor.h"

#include <fmt/core.h>

#include <algorithm>

namespace starling::wire {
namespace {

// Major types of RFC 8949, section 3.1.
constexpr unsigned kUnsigned = 0;
constexpr unsigned kBytes = 2;
constexpr unsigned kText = 3;
constexpr unsigned kMap = 5;

// Values below this stand in the initial byte itself; from it on the initial byte says how many bytes follow.
constexpr unsigned kOneByteFollows = 24;

std::size_t argument_bytes(std::uint64_t value) {
  if (value < kOneByteFollows) return 0;
  if (value <= 0xff) return 1;
  if (value <= 0xffff) return 2;
  return value <= 0xffffffff ? 4 : 8;
}

}  // namespace

CborWriter::CborWriter(std::size_t fields) { head(kMap, fields); }

void CborWriter::head(unsigned major, std::uint64_t value) {
  const std::size_t follow = argument_bytes(value);
  unsigned low = static_cast<unsigned>(value);
  if (follow == 1) low = 24;
  if (follow == 2) low = 25;
  if (follow == 4) low = 26;
  if (follow == 8) low = 27;
  bytes_.push_back(static_cast<std::uint8_t>(major << 5 | low));
  for (std::size_t i = follow; i-- > 0;) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void CborWriter::append_text(std::string_view text) {
  head(kText, text.size());
  bytes_.insert(bytes_.end(), text.begin(), text.end());
}

CborWriter& CborWriter::field(std::string_view key, std::uint64_t value) {
  append_text(key);
  head(kUnsigned, value);
  return *this;
}

CborWriter& CborWriter::field(std::string_view key, std::span<const std::uint8_t> bytes) {
  append_text(key);
  head(kBytes, bytes.size());
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

CborWriter& CborWriter::field(std::string_view key, std::string_view text) {
  append_text(key);
  append_text(text);
  return *this;
}

CborReader::CborReader(std::string_view what, std::span<const std::uint8_t> cbor, std::size_t fields)
    : what_(what), rest_(cbor) {
  if (head(kMap, "") != fields) fail("does not have the right number of fields", "");
}

void CborReader::fail(std::string_view why, std::string_view key) {
  if (!error_.empty()) return;
  error_ = key.empty() ? fmt::format("read {}: it {}", what_, why) : fmt::format("read {}: '{}' {}", what_, key, why);
  rest_ = {};
}

std::span<const std::uint8_t> CborReader::take(std::uint64_t count, std::string_view key) {
  if (count > rest_.size()) {
    fail("is cut short", key);
    return {};
  }
  const auto taken = rest_.first(static_cast<std::size_t>(count));
  rest_ = rest_.subspan(static_cast<std::size_t>(count));
  return taken;
}

std::uint64_t CborReader::head(unsigned major, std::string_view key) {
  const auto initial = take(1, key);
  if (initial.empty()) return 0;
  const unsigned low = initial[0] & 31u;
  if (initial[0] >> 5 != major || low > 27) {
    fail("has the wrong type", key);
    return 0;
  }
  if (low < kOneByteFollows) return low;
  const std::size_t follow = std::size_t{1} << (low - kOneByteFollows);
  std::uint64_t value = 0;
  for (const std::uint8_t byte : take(follow, key)) value = value << 8 | byte;
  if (argument_bytes(value) != follow) fail("is not in its shortest form", key);
  return error_.empty() ? value : 0;
}

void CborReader::expect_key(std::string_view key) {
  const auto found = take(head(kText, key), key);
  if (!std::equal(found.begin(), found.end(), key.begin(), key.end())) fail("is missing", key);
}

std::uint64_t CborReader::number(std::string_view key, std::uint64_t max) {
  expect_key(key);
  const std::uint64_t value = head(kUnsigned, key);
  if (value > max) fail("is out of range", key);
  return error_.empty() ? value : 0;
}

std::span<const std::uint8_t> CborReader::bytes(std::string_view key, std::size_t bytes_max) {
  expect_key(key);
  const std::uint64_t size = head(kBytes, key);
  if (size > bytes_max) fail("is too long", key);
  return error_.empty() ? take(size, key) : std::span<const std::uint8_t>{};
}

std::string_view CborReader::text(std::string_view key, std::size_t bytes_max) {
  expect_key(key);
  const std::uint64_t size = head(kText, key);
  if (size > bytes_max) fail("is too long", key);
  if (!error_.empty()) return {};
  const auto found = take(size, key);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

void CborReader::fill(std::string_view key, std::span<std::uint8_t> out) {
  const auto found = bytes(key, out.size());
  if (found.size() != out.size()) {
    fail("has the wrong length", key);
    return;
  }
  std::copy(found.begin(), found.end(), out.begin());
}

Status CborReader::finish() const {
  if (!error_.empty()) return Error{ErrorCode::corrupt, error_};
  if (!rest_.empty()) return Error{ErrorCode::corrupt, fmt::format("read {}: bytes follow its end", what_)};
  return {};
}

}  // namespace starling::wire
