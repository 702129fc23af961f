// The heads of a reply as they come line by line, provisional ones (1xx) and trailers included. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::web {

constexpr std::size_t kHeadBytesMax = 64 * 1024;  // all heads of one reply together

// The parts of a reply's head that say what to do with its body.
struct Head {
  int status = 0;
  std::optional<std::int64_t> length;  // the body's on the wire; none: it ends with its last chunk or the connection
  std::optional<std::int64_t> range_start;  // start in Content-Range: bytes <start>-…
  bool encoded = false;                     // compressed
  bool chunked = false;
  std::optional<std::string> location;

  // The server wants another address to be asked.
  [[nodiscard]] bool is_redirect() const;
  // The end of the body is told apart from a lost connection.
  [[nodiscard]] bool is_framed() const { return length.has_value() || chunked; }
};

class Heads {
 public:
  // Takes one line with its end. True when the final head is complete, once. resource_exhausted when there is no end of
  // them; corrupt when a length is no number.
  Result<bool> take(std::string_view line);
  [[nodiscard]] const Head& head() const { return head_; }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  Status take_field(std::string_view name, std::string_view value);

  Head head_;
  bool complete_ = false;
  std::size_t bytes_ = 0;
};

}  // namespace starling::web
