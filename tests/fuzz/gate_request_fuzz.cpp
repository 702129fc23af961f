#include <algorithm>

#include "coordinator/gate/request_parser.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using gate::RequestParser;

namespace {

const gate::GateLimits kLimits;

bool wants_more(const RequestParser& parser) {
  return parser.state() == RequestParser::State::head || parser.state() == RequestParser::State::body;
}

void check_bounds(const gate::RawRequest& request) {
  VERIFY(request.target.size() <= kLimits.request_line_bytes_max && request.target.front() == '/');
  VERIFY(request.headers.size() <= static_cast<std::size_t>(kLimits.headers_max));
  VERIFY(request.body.size() <= kLimits.body_bytes_max);
}

}  // namespace

// The parser's result must not depend on how the bytes are cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0];
  const std::string_view bytes = testing::text_of(data + 1, size - 1);
  RequestParser whole(kLimits);
  RequestParser pieces(kLimits);
  const std::size_t used_whole = whole.feed(bytes);
  VERIFY(used_whole <= bytes.size());
  std::size_t used = 0;
  while (used < bytes.size() && wants_more(pieces)) {
    const std::size_t taken = pieces.feed(bytes.substr(used, step));
    VERIFY(taken > 0);
    used += taken;
  }
  VERIFY(whole.state() == pieces.state());
  if (whole.state() == RequestParser::State::refused) {
    VERIFY(whole.refusal().status == pieces.refusal().status);
  } else if (whole.state() == RequestParser::State::complete) {
    VERIFY(used == used_whole);
    const gate::RawRequest request = whole.take();
    const gate::RawRequest same = pieces.take();
    check_bounds(request);
    VERIFY(request.target == same.target && request.body == same.body && request.headers == same.headers);
  }
  return 0;
}
