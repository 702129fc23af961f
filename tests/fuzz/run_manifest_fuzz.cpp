#include "shared/run/run_manifest.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json = testing::text_of(data, size);
  const auto manifest = wire::decode_manifest(json);
  if (!manifest.ok()) return 0;
  VERIFY(wire::check_manifest(*manifest).ok());
  // One manifest, one text, but for a title that was made plain.
  const std::string text = wire::encode_manifest(*manifest);
  constexpr std::string_view kAfterTitle = ",\"seed\":";
  VERIFY(text.starts_with(json.substr(0, json.find("\"title\":"))));
  VERIFY(text.substr(text.find(kAfterTitle)) == json.substr(json.find(kAfterTitle)));
  return 0;
}
