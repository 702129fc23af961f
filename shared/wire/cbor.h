// The little CBOR (RFC 8949) that frames between peers need: a map of known text keys in a known order, holding
// unsigned integers, byte strings and text strings. Both ends speak the same protocol version, so nothing is
// optional: the reader takes exactly the bytes that the writer makes, never recurses and never allocates by a
// length it has not checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace starling::wire {

// Writes one map, whose number of fields is said first: exactly that many must follow.
class CborWriter {
 public:
  explicit CborWriter(std::size_t fields);
  CborWriter& field(std::string_view key, std::uint64_t value);
  CborWriter& field(std::string_view key, std::span<const std::uint8_t> bytes);
  CborWriter& field(std::string_view key, std::string_view text);
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  void head(unsigned major, std::uint64_t value);
  void append_text(std::string_view text);

  std::vector<std::uint8_t> bytes_;
};

// Keeps the first error; after that every read gives zero or nothing. finish() returns the error.
class CborReader {
 public:
  // `what` names the message in errors. `cbor` outlives the reader and the spans it gives.
  CborReader(std::string_view what, std::span<const std::uint8_t> cbor, std::size_t fields);

  // Reads a number of at most `max`.
  std::uint64_t number(std::string_view key, std::uint64_t max);
  std::span<const std::uint8_t> bytes(std::string_view key, std::size_t bytes_max);
  std::string_view text(std::string_view key, std::size_t bytes_max);
  // Reads exactly out.size() bytes.
  void fill(std::string_view key, std::span<std::uint8_t> out);

  // Returns corrupt, with the first error, unless every byte was read and was right.
  [[nodiscard]] Status finish() const;

 private:
  void fail(std::string_view why, std::string_view key);
  void expect_key(std::string_view key);
  // Returns the argument of the next data item, if it is of this major type and in its shortest form.
  std::uint64_t head(unsigned major, std::string_view key);
  std::span<const std::uint8_t> take(std::uint64_t count, std::string_view key);

  std::string_view what_;
  std::span<const std::uint8_t> rest_;
  std::string error_;
};

}  // namespace starling::wire
