#include "shared/net/response_head.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto head = net::parse_response_head(testing::text_of(data, size));
  if (!head.ok()) return 0;
  VERIFY(size <= net::kResponseHeadBytesMax);
  VERIFY(head->status >= 200 && head->status <= 599 && head->content_length >= 0);
  VERIFY(!head->range_start.has_value() || *head->range_start >= 0);
  return 0;
}
