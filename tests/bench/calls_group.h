// The volunteers of one calls benchmark, with one control.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/run/model_options.h"
#include "tests/bench/calls_bench.h"
#include "tests/bench/process_pool.h"
#include "tests/netlab/lab.h"
#include "tests/support/temp_dir.h"

namespace starling::bench {

// Ranks of the volunteers that are called for each cell.
using CallsHolders = std::map<wire::CellIndex, std::vector<std::size_t>>;

// A volunteer's costs of some windows.
struct CallsCosts {
  double cpu_s = 0;             // all threads of its daemon; the trainer's is not in it, nor the end of a round
  std::int64_t bytes_sent = 0;  // in calls and answers
  std::int64_t bytes_received = 0;
  std::int64_t units_computed = 0;  // on their way forth, for callers, itself among them
  std::int64_t units_asked = 0;     // that its own windows needed
  double gradient_cpu_s = 0;        // at the end of the round, for the gradients of the cells that are held
  std::int64_t gradient_bytes = 0;  // their size
};

class CallsGroup {
 public:
  // One volunteer for each model, by rank; the models are alike but for their windows. `lab`: their homes, or null for
  // loopback; it outlives the group. All have links with all when this returns.
  static Result<std::unique_ptr<CallsGroup>> start(const std::vector<CallsModel>& models, bool yields,
                                                   const netlab::Lab* lab);

  // The volunteer holds these cells.
  Status hold(std::size_t rank, const std::vector<wire::CellIndex>& cells);
  // The volunteer calls these from now on.
  Status call(std::size_t rank, const CallsHolders& holders);
  // Has one volunteer compute windows, the first ones of which are not counted. Returns the seconds of the others.
  // command: "train", or "train-whole" for the whole model in one trainer.
  Result<std::vector<double>> train(std::size_t rank, const std::string& command, int uncounted, int counted);
  // Has all compute windows for this long, and end those under way. Returns for each volunteer the moment at which its
  // first window began, and then those at which each one ended, in seconds of the steady clock.
  Result<std::vector<std::vector<double>>> train_for(Duration time);
  // Ends a round, but for its averaging: all take the gradients of the cells that they hold. Returns each volunteer's
  // costs since the last time, by rank, without those of this.
  Result<std::vector<CallsCosts>> end_round();

 private:
  CallsGroup() = default;
  Result<std::string> ask(std::size_t rank, const std::string& command);

  testing::TempDir folder_;
  Children children_;
};

}  // namespace starling::bench
