// The head of an HTTP/1.1 reply, read strictly: what our own server never sends is an error.
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
  std::optional<std::int64_t> range_start;                  // of Content-Range: bytes <start>-…
  std::vector<std::pair<std::string, std::string>> fields;  // all of them in order, names in lower case
};

// Everything up to and including the empty line ("\r\n\r\n"). corrupt for anything else than one well-formed
// head: no Content-Length or two of them, chunked or encoded bodies, folded or nameless fields.
Result<ResponseHead> parse_response_head(std::string_view head);

}  // namespace starling::net
