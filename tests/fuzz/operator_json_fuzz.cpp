// Files of operators: lists of shards, and lists of computers that a swarm is planned for.
#include "coordinator/operations/prospects.h"
#include "shared/run/data_options.h"
#include "shared/swarm/host_kinds.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json = testing::text_of(data, size);
  if (const auto listing = wire::decode_listing(json)) {
    const std::string text = wire::encode_listing(*listing);
    const auto again = wire::decode_listing(text);
    VERIFY(again && wire::encode_listing(*again) == text);
  }
  if (const auto hosts = operations::read_swarm(json); hosts && !hosts->empty()) {
    const auto kinds = swarm::host_kinds(*hosts);
    VERIFY(!kinds.empty() && kinds.size() <= swarm::kHostKindsMax);
    const auto again = operations::read_swarm(operations::write_swarm(kinds));
    VERIFY(again && again->size() == hosts->size());
  }
  return 0;
}
