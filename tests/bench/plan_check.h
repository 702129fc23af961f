// starling-bench plan-check: what starling-coordinator plan says of an averaging (shared/swarm/runtime_model.h), beside
// what the product's engine takes over links of that kind. Needs root: network namespaces.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct PlanCheckOptions {
  int rounds = 3;    // counted, of each setting
  std::string only;  // settings whose name holds this
  std::string plot_file;
};

// A row a setting: predicted_s, time_s (median), error (its share that the prediction is off); of steps of training,
// what overlap_bench.h measures, too, and apart_predicted_s. The table's figures: error_worst; and winners_wrong:
// choices between codecs over the same lines, or between mixing beside computing and all-reduce after it, in which
// another one was measured fastest than predicted.
Result<BenchResult> run_plan_check(const PlanCheckOptions& options);

std::vector<std::string> plan_check_columns();
std::string plan_check_plot(const BenchResult& result);

}  // namespace starling::bench
