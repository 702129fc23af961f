// The cost to a group of newcomers that download the state from its members while it averages.
#pragma once

#include <filesystem>

#include "tests/bench/averaging_bench.h"
#include "tests/netlab/lab.h"

namespace starling::bench {

// Runs options.rounds pairs of rounds: one by the group alone, and one while all of options.joiners download a state of
// options.state_floats, with options.moments, from all of its members; the next pair begins when they have it.
// `identities` and `lab`: as in measure_recovery; the joiners' come after the members'.
Result<BenchResult> measure_joining(const AveragingOptions& options, const std::filesystem::path& identities,
                                    const netlab::Lab* lab);

// A child process: downloads the state on each command, and answers when it has begun and when it is done.
int run_joiner(const AveragingChild& child);

}  // namespace starling::bench
