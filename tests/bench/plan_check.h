// starling-bench plan-check: compares starling-coordinator plan's prediction of an averaging
// (shared/swarm/runtime_model.h) with the product's engine over links of that kind. Needs root: network namespaces.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct PlanCheckOptions {
  int rounds = 3;    // counted rounds of each setting
  std::string only;  // settings whose name contains this
  std::string plot_file;
};

// One row per setting: predicted_s, time_s (median), error (the prediction's relative error); for steps of training,
// also the figures of overlap_bench.h and apart_predicted_s. The table's figures: error_worst; and winners_wrong:
// choices between codecs over identical lines, or between gossip during computing and all-reduce after it, in which the
// fastest measured one was not the predicted one.
Result<BenchResult> run_plan_check(const PlanCheckOptions& options);

std::vector<std::string> plan_check_columns();
std::string plan_check_plot(const BenchResult& result);

}  // namespace starling::bench
