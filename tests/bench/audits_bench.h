// starling-bench audits: what it costs the coordinator that volunteers check each other's work, once they have long
// been right: two real coordinators beside each other, one of whose runs has audits.
#pragma once

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct AuditsBenchOptions {
  int trainers = 16;  // members of each run, all in one group
  double audit_rate = 1.0 / 64;
  int rounds_before = 100;  // that are not counted: newcomers are checked often
  int rounds = 100;         // counted ones, of one second each
};

// Figures, of the run with audits and of the one without (plain_…), over the counted rounds: cpu_us and plain_cpu_us,
// the coordinator's CPU time for a heartbeat, all that comes of it included; heartbeats, those of a member in a round;
// kb_up and kb_down, what a member sends and gets in a round, in 1024 bytes; audited_samples, the part of the samples
// that were computed again; report_kb_more, by how much a report is longer (at most 8); checked and missed, members'
// rounds. cpu_ratio is at most 1.1.
Result<BenchResult> run_audits_bench(const AuditsBenchOptions& options);

}  // namespace starling::bench
