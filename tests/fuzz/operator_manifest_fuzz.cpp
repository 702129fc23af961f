#include "shared/manifest/operator_manifest.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto result = manifest::read_operator_manifest(testing::text_of(data, size), "/srv");
  if (result.ok()) VERIFY(wire::check_manifest_settings(result->manifest).ok());
  return 0;
}
