// What decentralized steps hide behind computing, and what all-reduce after computing costs, over the same lines.
#pragma once

#include <filesystem>

#include "tests/bench/averaging_bench.h"
#include "tests/netlab/lab.h"

namespace starling::bench {

// options.rounds times in turn, after some that do not count, three in a row of each: mixings with the partner whose
// turn it is, in the product's buckets (shared/wire/buckets.h), all at a time; averagings of all; decentralized steps,
// that is options.step_s of computing and a mixing meanwhile; and steps with all-reduce, that is the same computing,
// then an averaging. `identities` and `lab`: as in measure_recovery.
// Figures: mixing_s, averaging_s, time_s (of the decentralized step) and apart_s (of the other); and of the medians of
// each turn, then the median,
// hidden_ratio  time_s over the longer of computing and mixing
// apart_ratio   apart_s over the sum of computing and averaging
// speed_up      apart_s over time_s
Result<BenchResult> measure_overlap(const AveragingOptions& options, const std::filesystem::path& identities,
                                    const netlab::Lab* lab);

}  // namespace starling::bench
