// starling-bench leaderboard: the ledger and the pages of a project with very many volunteers.
#pragma once

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct LeaderboardOptions {
  int volunteers = 100'000;
  std::int64_t lines = 1'000'000;  // lines of the ledger; rounds of 1000 volunteers each
};

// Figures: lines_per_s, ledger lines stored in a second; cpu_us_per_line, the process's CPU time for one;
// bytes_per_line, growth of the file once everybody has a line; worst_cpu_ms, the CPU time of the slowest kind of page,
// which is more reliable than the times on a busy machine; first_ms, deep_ms, pinned_ms and search_ms, the slowest
// board's median time of a page (the first, the last, with the last volunteer's row pinned, a search that half of all
// names match); run_page_ms; page_bytes, the largest page; out_of_order, neighbours on the recent board whose decayed
// averages are in the wrong order.
Result<BenchResult> run_leaderboard_bench(const LeaderboardOptions& options);

}  // namespace starling::bench
