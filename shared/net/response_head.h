// The head of an HTTP/1.1 reply, parsed strictly: anything that our own server never sends is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace starling::net {

constexpr std::size_t kResponseHeadBytesMax = 16 * 1024;

struct ResponseHead {
  int status = 0;
  std::int64_t content_length = 0;
  std::string content_type;
  bool keep_alive = true;
  std::optional<std::int64_t> range_start;                  // start in Content-Range: bytes <start>-…
  std::vector<std::pair<std::string, std::string>> fields;  // all in order, names in lower case
};

// Parses the head up to and including the empty line ("\r
// \r
// "). corrupt unless it is one well-formed head; refused are no Content-Length or two, chunked or encoded bodies, and
// folded or nameless fields.
Result<ResponseHead> parse_response_head(std::string_view head);

}  // namespace starling::net
