// The cost to a group of a peer that dies, or stops answering, in the middle of a round.
#pragma once

#include <filesystem>

#include "tests/bench/averaging_bench.h"
#include "tests/netlab/lab.h"

namespace starling::bench {

// Applies one fault in each of `options.rounds` groups of new processes, at moments spread over an undisturbed round.
// `identities`: a folder with the peers' certificates and keys. `lab`: the peers' homes, or null for loopback.
Result<BenchResult> measure_recovery(const AveragingOptions& options, const std::filesystem::path& identities,
                                     const netlab::Lab* lab);

}  // namespace starling::bench
