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
  std::vector<std::string> links;  // a row each
  std::string table;               // one of kAveragingTables, in place of links
  int passes = 1;                  // through all rows, each with its own rounds
  std::string plot_file;           // empty: none
};

// links: the shaped links that averaging is judged by. loopback: 4 and 8 peers, 16 Mi and 64 Mi floats, fp32 and fp16.
// blows: what may happen to a peer in mid-round.
inline const std::vector<std::string> kAveragingTables = {"links", "loopback", "blows"};

// A single row is the result itself. A table's own figures are the worst of its rows'.
Result<BenchResult> run_averaging(const AveragingArguments& arguments);

// Those of a table's figures that people look at.
std::vector<std::string> averaging_columns(const AveragingArguments& arguments);

// Every round of every row, with medians, aims and bounds.
std::string averaging_plot(const BenchResult& result);

}  // namespace starling::bench
