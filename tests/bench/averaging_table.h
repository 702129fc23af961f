// Many settings of the averaging benchmark in one run: a table of rows, and a picture of them.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "tests/bench/averaging_bench.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct AveragingArguments {
  AveragingOptions options;
  std::vector<std::string> links;  // one row each
  std::string table;               // one of kAveragingTables, in place of links
  int passes = 1;                  // passes over all rows, each with its own rounds
  std::string plot_file;           // empty: no picture
};

// links: the shaped links that averaging is judged by. loopback: 4 and 8 peers, 16 Mi and 64 Mi floats, fp32 and fp16.
// blows: faults of a peer in the middle of a round.
inline const std::vector<std::string> kAveragingTables = {"links", "loopback", "blows", "bound"};

// A single row's result is the result itself. A table's own figures are the worst of its rows'.
Result<BenchResult> run_averaging(const AveragingArguments& arguments);

// The figures of a table that people look at.
std::vector<std::string> averaging_columns(const AveragingArguments& arguments);

// Plots every round of every row, with medians, aims and bounds.
std::string averaging_plot(const BenchResult& result);

}  // namespace starling::bench
