#include "shared/run/run_manifest.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json = testing::text_of(data, size);
  const auto manifest = wire::decode_manifest(json);
  if (!manifest.ok()) return 0;
  VERIFY(wire::check_manifest(*manifest).ok());
  VERIFY(wire::encode_manifest(*manifest) == json);  // one manifest, one text
  return 0;
}
