// starling-bench abuse: a real coordinator under slow connections, password guessing and random bytes, while honest
// volunteers call and rounds go on.
#pragma once

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct AbuseOptions {
  int volunteers = 1000;    // volunteers that call
  double rate_per_s = 500;  // total rate of the volunteers, on connections that they keep
  int slow = 1000;          // connections whose request never ends
  int logins = 10'000;      // logins with wrong passwords: half for existing accounts
  int noise = 50;           // requests made of random bytes, for every route
  double seconds = 30;      // length of the attack; longer when the coordinator answers more slowly
};

// Figures: calm_p99_ms and p99_ms, the volunteers' open-loop latency before and during the attack; attack_s; rounds,
// credited during it; slow_closed, connections that the coordinator closed; passwords_checked; routes; of the
// coordinator, from before to a moment after: rss_growth_mb, descriptors_left, and disk_growth_mb of the project and
// its log; rss_mb, its peak. Errors: an honest heartbeat that fails, an answer of 500, a wrong password that opens an
// account.
Result<BenchResult> run_abuse_bench(const AbuseOptions& options);

}  // namespace starling::bench
