// starling-bench heartbeats: a real coordinator under the heartbeats of many volunteers, over TLS with client
// certificates, while some of them go through real rounds.
#pragma once

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct HeartbeatsOptions {
  int volunteers = 1000;  // members of the run that call and do not train
  int connections = 256;  // kept connections, each of one volunteer
  int trainers = 16;      // members that train, average and report, at their own pace
  int turns = 5;          // turns of two seconds each, on kept connections and on new ones
};

// Figures: kept_per_s and new_per_s, answered heartbeats when every line sends the next once the last is answered;
// p50_ms, p99_ms, new_p50_ms and new_p99_ms, open loop at 70 % of that; kept_cpu_us and new_cpu_us, the coordinator's
// CPU time for one; rss_mb, its peak; rounds; acknowledged_at_kill, the samples that trainers had been told are stored
// when the coordinator was killed (kill -9) under load, and ledger_at_kill, the samples that were stored (less is an
// error); acknowledged_samples and ledger_samples, at the end, once it was served again.
Result<BenchResult> run_heartbeats_bench(const HeartbeatsOptions& options);

}  // namespace starling::bench
