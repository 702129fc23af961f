#include <algorithm>

#include "shared/web/exchange.h"
#include "shared/web/heads.h"
#include "shared/wire/web_address.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = testing::text_of(data, size);
  web::Heads heads;
  bool complete = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto taken = heads.take(text.substr(0, end));
    if (!taken.ok()) return 0;
    VERIFY(!(complete && *taken));
    complete = complete || *taken;
    text.remove_prefix(end);
  }
  const web::Head& head = heads.head();
  VERIFY(heads.complete() == complete && size <= web::kHeadBytesMax);
  VERIFY(!complete || (head.status >= 200 && head.status <= 999));
  VERIFY(!head.length.has_value() || *head.length >= 0);
  VERIFY(!head.range_start.has_value() || *head.range_start >= 0);
  if (!head.location.has_value()) return 0;
  const auto next = web::resolve_location("https://a.example.org/folder/file", *head.location);
  if (next.ok()) VERIFY(!wire::parse_web_address(*next).ok() || next->starts_with("https://"));
  return 0;
}
