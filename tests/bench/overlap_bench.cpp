#include "tests/bench/overlap_bench.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/averaging_group.h"

namespace starling::bench {
namespace {

constexpr int kWarmUps = 4;  // rounds until speeds are known, by which links are paced
// Rounds of one kind in a row, as the steps of a training are: in the first one TCP still sends at the rate that suited
// the kind before, to one partner instead of all, or the reverse.
constexpr int kInARow = 3;

}  // namespace

Result<BenchResult> measure_overlap(const AveragingOptions& options, const std::filesystem::path& identities,
                                    const netlab::Lab* lab) {
  STARLING_ASSIGN(const auto group, AveragingGroup::start("averaging-peer", options, identities, lab));
  bool correct = true;
  BenchResult result;
  auto& series = result.series;
  // The median of `in_a_row` rounds, all of which are recorded as `name`.
  const auto time_of = [&](const char* command, const char* name, int in_a_row) -> Result<double> {
    std::vector<double> times;
    for (int i = 0; i < in_a_row; ++i) {
      STARLING_ASSIGN(const AveragingRound round, group->run_round(command));
      correct = correct && round.correct && round.expelled == 0;
      times.push_back(round.seconds);
    }
    series[name].insert(series[name].end(), times.begin(), times.end());
    return median(times);
  };
  for (int i = -kWarmUps; i < options.rounds; ++i) {
    if (i == 0) series.clear();
    const int in_a_row = i < 0 ? 1 : kInARow;
    STARLING_ASSIGN(const double gossip, time_of("mix", "mixing_s", in_a_row));
    STARLING_ASSIGN(const double averaging, time_of("average", "averaging_s", in_a_row));
    STARLING_ASSIGN(const double step, time_of("compute-beside-mixing", "time_s", in_a_row));
    STARLING_ASSIGN(const double apart, time_of("compute-then-average", "apart_s", in_a_row));
    if (lab != nullptr) STARLING_TRY(group->share_speeds());
    series["hidden_ratio"].push_back(step / std::max(options.step_s, gossip));
    series["apart_ratio"].push_back(apart / (options.step_s + averaging));
    series["speed_up"].push_back(apart / step);
  }
  for (const auto& [name, values] : series) result.figures[name] = median(values);
  result.figures["values_correct"] = correct ? 1.0 : 0.0;
  return result;
}

}  // namespace starling::bench
