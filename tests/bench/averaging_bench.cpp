#include "tests/bench/averaging_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "client/averaging/codec.h"
#include "shared/base/clock.h"
#include "tests/bench/averaging_group.h"
#include "tests/bench/bench_network.h"
#include "tests/bench/cipher_cost.h"
#include "tests/bench/joining_bench.h"
#include "tests/bench/overlap_bench.h"
#include "tests/bench/recovery_bench.h"
#include "tests/netlab/lab.h"
#include "tests/support/temp_dir.h"

namespace starling::bench {
namespace {

// Sums of the counted rounds.
struct Tally {
  std::vector<double> our_times;
  std::vector<double> late_times;
  std::vector<double> gloo_times;
  std::vector<double> cpu_seconds;  // total over the peers, one per round
  std::vector<double> gloo_cpu_seconds;
  std::vector<double> cipher_costs;  // CPU seconds per GB, measured right before each round
  std::string plan;
  std::vector<double> ratios_to_gloo;  // one per round
  double wakes = 0;
  double streams = 0;  // at the end
  double extra_bytes_max = 0;
  bool correct = true;  // includes Gloo's results
  int expelled = 0;
  bool identical = true;
  double complete = 1;  // that of the least complete round
};

bool cuts(const AveragingOptions& options) {
  return options.fault == "cut" || options.fault == "deaf" || options.fault == "mute";
}

Result<std::unique_ptr<netlab::Lab>> build_lab(const AveragingOptions& options) {
  STARLING_ASSIGN(std::vector<netlab::LinkSpec> links, netlab::parse_links(options.links));
  return netlab::Lab::create(
      std::move(links), {.loss = options.loss_percent / 100, .congestion = options.congestion, .cuts = cuts(options)});
}

std::vector<double> divided(std::vector<double> values, double by) {
  for (double& value : values) value /= by;
  return values;
}

// Runs one turn: our round, then Gloo's two if there is a Gloo group.
Status take_turn(AveragingGroup& ours, AveragingGroup* gloo, bool counted, Tally& tally) {
  if (counted) tally.cipher_costs.push_back(cipher_s_per_gb());
  STARLING_ASSIGN(const AveragingRound mine, ours.run_round("average"));
  tally.correct = tally.correct && mine.correct;
  tally.identical = tally.identical && mine.identical;
  tally.expelled += mine.expelled;
  if (counted) {
    tally.our_times.push_back(mine.seconds);
    if (mine.late_seconds > 0) tally.late_times.push_back(mine.late_seconds);
    STARLING_ASSIGN(tally.plan, ours.last_plan());
    tally.cpu_seconds.push_back(mine.cpu_seconds);
    tally.wakes += mine.wakes;
    tally.streams = mine.streams;
    tally.complete = std::min(tally.complete, mine.complete);
    tally.extra_bytes_max = std::max(tally.extra_bytes_max, mine.extra_bytes_max);
  }
  if (gloo == nullptr) return {};
  STARLING_ASSIGN(const AveragingRound ring, gloo->run_round("ring_chunked"));
  STARLING_ASSIGN(const AveragingRound halving, gloo->run_round("halving_doubling"));
  tally.correct = tally.correct && ring.correct && halving.correct;
  if (counted) {
    const AveragingRound& faster = ring.seconds < halving.seconds ? ring : halving;
    tally.gloo_times.push_back(faster.seconds);
    tally.gloo_cpu_seconds.push_back(faster.cpu_seconds);
    tally.ratios_to_gloo.push_back(mine.seconds / tally.gloo_times.back());
  }
  return {};
}

std::map<std::string, std::string> settings_of(const AveragingOptions& options) {
  std::map<std::string, std::string> settings = {{"peers", std::to_string(options.peers)},
                                                 {"floats", std::to_string(options.floats)},
                                                 {"codec", options.codec},
                                                 {"rounds", std::to_string(options.rounds)}};
  if (options.aggregation != "clipped") settings["aggregation"] = options.aggregation;
  if (options.audited) settings["audited"] = "true";
  if (options.rest_s > 0) settings["rest_s"] = fmt::format("{}", options.rest_s);
  if (options.links.empty()) return settings;
  settings["links"] = options.links;
  settings["loss_percent"] = fmt::format("{}", options.loss_percent);
  settings["congestion"] = options.congestion.empty() ? "the system's; bbr for ours that go far" : options.congestion;
  return settings;
}

// Adds the links' bound, and time_s as a multiple of it; neither exists over loopback.
void compare_with_bound(const AveragingOptions& options, const netlab::Lab* lab, BenchResult& result) {
  result.figures["bound_s"] = kDoesNotApply;
  result.figures["ratio_to_bound"] = kDoesNotApply;
  if (lab == nullptr) return;
  const auto codec = averaging::codec_from_name(options.codec).value();
  const auto wire_bytes = averaging::encoded_bytes(codec, static_cast<std::size_t>(options.floats));
  const double bound_s = netlab::all_reduce_bound_s(static_cast<double>(wire_bytes), lab->links());
  result.figures["bound_s"] = bound_s;
  result.figures["ratio_to_bound"] = result.figures["time_s"] / bound_s;
  result.series["ratio_to_bound"] = divided(result.series["time_s"], bound_s);
  const auto gloo = result.series.find("gloo_time_s");
  if (gloo == result.series.end()) return;
  result.figures["gloo_ratio_to_bound"] = result.figures["gloo_time_s"] / bound_s;
  result.series["gloo_ratio_to_bound"] = divided(gloo->second, bound_s);
}

// Compares CPU time with that of encrypting and decrypting as many bytes and, if there is a Gloo group, with Gloo's,
// which does not encrypt. Each peer sends, and receives, all parts but one, as contributions and as results.
void compare_cpu(const AveragingOptions& options, const Tally& tally, BenchResult& result) {
  const double vectors_gb = options.peers * static_cast<double>(options.floats) * sizeof(float) / 1e9;
  result.series["cpu_s_per_gb"] = divided(tally.cpu_seconds, vectors_gb);
  result.figures["cpu_s_per_gb"] = median(result.series["cpu_s_per_gb"]);
  const auto codec = averaging::codec_from_name(options.codec).value();
  const auto floats = static_cast<std::size_t>(options.floats);
  const double of_vector = static_cast<double>(averaging::encoded_bytes(codec, floats)) /
                           (static_cast<double>(options.floats) * sizeof(float));
  const double through_cipher = 2 * of_vector * 2 * (options.peers - 1) / options.peers;
  result.series["cipher_s_per_gb"] = divided(tally.cipher_costs, 1 / through_cipher);
  result.figures["cipher_s_per_gb"] = median(result.series["cipher_s_per_gb"]);
  if (tally.gloo_times.empty()) return;
  result.series["gloo_cpu_s_per_gb"] = divided(tally.gloo_cpu_seconds, vectors_gb);
  result.figures["gloo_cpu_s_per_gb"] = median(result.series["gloo_cpu_s_per_gb"]);
  result.figures["cpu_ratio"] =
      result.figures["cpu_s_per_gb"] / (result.figures["cipher_s_per_gb"] + result.figures["gloo_cpu_s_per_gb"]);
}

BenchResult summarise(const AveragingOptions& options, const netlab::Lab* lab, const Tally& tally) {
  const double vector_bytes = static_cast<double>(options.floats) * sizeof(float);
  const double gb = options.rounds * options.peers * vector_bytes / 1e9;
  BenchResult result;
  result.settings = settings_of(options);
  result.figures = {{"time_s", median(tally.our_times)},
                    {"recovery_s", kDoesNotApply},
                    {"wakes_per_mb", tally.wakes / gb / 1e3},
                    {"streams_per_link", tally.streams / (options.peers * (options.peers - 1))},
                    {"extra_memory_ratio", tally.extra_bytes_max / vector_bytes},
                    {"values_correct", tally.correct ? 1.0 : 0.0},
                    {"survivors_identical", tally.identical ? 1.0 : 0.0},
                    {"expelled", tally.expelled},
                    {"complete_part", tally.complete}};
  result.series["time_s"] = tally.our_times;
  if (!tally.gloo_times.empty()) {
    result.settings["against"] =
        "Gloo AllreduceRingChunked and AllreduceHalvingDoubling, the faster in each round, no encryption";
    result.figures["gloo_time_s"] = median(tally.gloo_times);
    result.figures["ratio_to_gloo"] = median(tally.ratios_to_gloo);
    result.series["gloo_time_s"] = tally.gloo_times;
    result.series["ratio_to_gloo"] = tally.ratios_to_gloo;
  }
  compare_cpu(options, tally, result);
  if (!tally.late_times.empty()) result.figures["deferred_time_s"] = median(tally.late_times);
  if (lab != nullptr) {
    result.settings["batch_s"] = fmt::format("{}", options.batch_s);
    result.settings["plan"] = tally.plan;
  }
  compare_with_bound(options, lab, result);
  return result;
}

}  // namespace

Result<BenchResult> run_averaging_bench(const AveragingOptions& given) {
  AveragingOptions options = given;
  STARLING_TRY(averaging::codec_from_name(options.codec).status());
  std::unique_ptr<netlab::Lab> lab;  // outlives the groups
  if (!options.links.empty()) {
    STARLING_ASSIGN(lab, build_lab(options));
    options.peers = static_cast<int>(lab->links().size()) - options.joiners;
    if (options.peers < 2)
      return Error{ErrorCode::invalid_argument, "--links needs the peers' links, then the joiners'"};
  } else if (options.loss_percent > 0 || !options.congestion.empty() || cuts(options)) {
    return Error{ErrorCode::invalid_argument, "--loss, --congestion and cut links need links: give --links too"};
  }
  const testing::TempDir folder;
  STARLING_TRY(write_identities(folder.path(), options.peers + options.joiners));
  if (options.joiners > 0) {
    STARLING_ASSIGN(BenchResult joining, measure_joining(options, folder.path(), lab.get()));
    joining.settings = settings_of(options);
    joining.settings["joiners"] = std::to_string(options.joiners);
    joining.settings["state_floats"] = std::to_string(options.state_floats);
    joining.settings["moments"] = options.moments;
    return joining;
  }
  if (options.step_s > 0) {
    STARLING_ASSIGN(BenchResult overlap, measure_overlap(options, folder.path(), lab.get()));
    overlap.settings = settings_of(options);
    overlap.settings["step_s"] = fmt::format("{}", options.step_s);
    return overlap;
  }
  if (!options.fault.empty()) {
    STARLING_ASSIGN(BenchResult recovery, measure_recovery(options, folder.path(), lab.get()));
    recovery.settings = settings_of(options);
    recovery.settings["blow"] = options.fault;
    compare_with_bound(options, lab.get(), recovery);
    return recovery;
  }
  STARLING_ASSIGN(const auto ours, AveragingGroup::start("averaging-peer", options, folder.path(), lab.get()));
  std::unique_ptr<AveragingGroup> gloo;
  if (lab == nullptr || options.gloo) {
    STARLING_ASSIGN(gloo, AveragingGroup::start("gloo-peer", options, folder.path(), lab.get()));
  }
  Tally tally;
  for (int round = -warm_ups(lab != nullptr); round < options.rounds; ++round) {
    STARLING_TRY(ours->rest(from_seconds(options.rest_s)));
    const bool with_gloo = round >= -warm_ups(false);  // Gloo learns nothing of the links
    STARLING_TRY(take_turn(*ours, with_gloo ? gloo.get() : nullptr, round >= 0, tally));
    // Over loopback all peers are equally fast: any difference would be the noise of this machine.
    if (lab != nullptr) STARLING_TRY(ours->share_speeds());
  }
  return summarise(options, lab.get(), tally);
}

}  // namespace starling::bench
