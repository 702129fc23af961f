#include "shared/manifest/join_link.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string found = manifest::find_join_link(testing::text_of(data, size));
  VERIFY(manifest::find_join_link(found) == found);
  const auto link = manifest::parse_join_link(found);
  if (!link.ok()) return 0;
  const auto again = manifest::parse_join_link(manifest::format_join_link(*link));
  VERIFY(again.ok() && *again == *link);
  return 0;
}
