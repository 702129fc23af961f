#include "tests/bench/overlap_bench.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/averaging_group.h"

namespace starling::bench {
namespace {

constexpr int kWarmUps = 4;  // until speeds are known, by which links are paced

}  // namespace

Result<BenchResult> measure_overlap(const AveragingOptions& options, const std::filesystem::path& identities,
                                    const netlab::Lab* lab) {
  STARLING_ASSIGN(const auto group, AveragingGroup::start("averaging-peer", options, identities, lab));
  bool correct = true;
  const auto time_of = [&](const char* command) -> Result<double> {
    STARLING_ASSIGN(const AveragingRound round, group->run_round(command));
    correct = correct && round.correct && round.expelled == 0;
    return round.seconds;
  };
  BenchResult result;
  auto& series = result.series;
  for (int i = -kWarmUps; i < options.rounds; ++i) {
    STARLING_ASSIGN(const double mixing, time_of("mix"));
    STARLING_ASSIGN(const double averaging, time_of("average"));
    STARLING_ASSIGN(const double step, time_of("compute-beside-mixing"));
    STARLING_ASSIGN(const double apart, time_of("compute-then-average"));
    if (lab != nullptr) STARLING_TRY(group->share_speeds());
    if (i < 0) continue;
    series["mixing_s"].push_back(mixing);
    series["averaging_s"].push_back(averaging);
    series["time_s"].push_back(step);
    series["apart_s"].push_back(apart);
    series["hidden_ratio"].push_back(step / std::max(options.step_s, mixing));
    series["apart_ratio"].push_back(apart / (options.step_s + averaging));
    series["speed_up"].push_back(apart / step);
  }
  for (const auto& [name, values] : series) result.figures[name] = median(values);
  result.figures["values_correct"] = correct ? 1.0 : 0.0;
  return result;
}

}  // namespace starling::bench
