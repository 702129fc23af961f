// What it costs a group when a peer dies, or stops answering, in the middle of a round.
#pragma once

#include <filesystem>

#include "tests/bench/averaging_bench.h"
#include "tests/netlab/lab.h"

namespace starling::bench {

// One blow in each of `options.rounds` groups of fresh processes, at moments spread over an undisturbed round.
// `identities`: a folder with the peers' certificates and keys. `lab`: where they live, or null for loopback.
Result<BenchResult> measure_recovery(const AveragingOptions& options, const std::filesystem::path& identities,
                                     const netlab::Lab* lab);

}  // namespace starling::bench
