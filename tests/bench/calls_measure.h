// Shared by the rows of the calls benchmark: costs, the processor's load, and how figures come about.
#pragma once

#include <vector>

#include "shared/base/result.h"
#include "tests/bench/bench.h"
#include "tests/bench/calls_bench.h"
#include "tests/bench/calls_bound.h"
#include "tests/bench/calls_group.h"

namespace starling::bench {

// Windows at the start of a volunteer's turn that are not counted. In the first turn links and what callers know of
// holders settle.
inline int uncounted_windows(int repetition) { return repetition == 0 ? 3 : 1; }
constexpr int kCountedWindows = 2;  // in each turn

// The part of this machine's processor time that all its programs use.
class ProcessorMeter {
 public:
  ProcessorMeter() : before_(read()) {}
  // From 0 to 1, since the last time.
  double busy();

 private:
  struct Times {
    double all = 0;
    double idle = 0;
  };
  static Times read();
  Times before_;
};

// The costs of all volunteers.
class CallsSpent {
 public:
  void add(const std::vector<CallsCosts>& costs);
  // Adds the figures cpu_s_per_gb, of bytes that were sent, each of which crosses once; gradient_cpu_s_per_gb, of
  // cells' gradients at the end of a round; and served_part: the units that were computed over those that windows
  // needed. Lost ones make it less than 1, and those that two holders have computed more.
  void tell(BenchResult& row) const;

 private:
  CallsCosts all_;
};

CalledModel called(const CallsModel& model);
// The cells of a model, by number.
std::vector<wire::CellIndex> cells_in(const CallsModel& model);

std::vector<double> quotients(const std::vector<double>& values, const std::vector<double>& by);
double sum(const std::vector<double>& values);

// Sets the figures to the medians of their series.
void conclude(BenchResult& row);
// Likewise, where lines should be the bound: adds bound_tokens_per_s and ratio_to_bound, and says in the row's note
// where the processor was busy nearly all the time: then it was the bound.
void conclude_shaped(double bound_tokens_per_s, BenchResult& row);

// The rows of each table.
Result<std::vector<BenchResult>> measure_delays(const CallsOptions& options);
Result<std::vector<BenchResult>> measure_loopback(const CallsOptions& options);
Result<std::vector<BenchResult>> measure_volunteers(const CallsOptions& options);

}  // namespace starling::bench
