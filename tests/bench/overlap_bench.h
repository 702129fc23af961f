// The share of gossip that decentralized steps hide behind computing, compared with all-reduce after computing, over
// identical lines.
#pragma once

#include <filesystem>

#include "tests/bench/averaging_bench.h"
#include "tests/netlab/lab.h"

namespace starling::bench {

// Runs options.rounds turns, after some that do not count, with three in a row of each kind: gossip with the partner
// whose turn it is, in the product's buckets (shared/run/buckets.h), all at a time; averagings of all; decentralized
// steps, that is options.step_s of computing with gossip meanwhile; and steps with all-reduce, that is as much
// computing, then an averaging. `identities` and `lab`: as in measure_recovery.
// Figures: gossip_s, averaging_s, time_s (of the decentralized step) and apart_s (of the other). The ratios are
// computed from the medians of each turn; each figure is their median.
// hidden_ratio  time_s over the longer of computing and gossip
// apart_ratio   apart_s over the sum of computing and averaging
// speed_up      apart_s over time_s
Result<BenchResult> measure_overlap(const AveragingOptions& options, const std::filesystem::path& identities,
                                    const netlab::Lab* lab);

}  // namespace starling::bench
