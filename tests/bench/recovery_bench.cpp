#include "tests/bench/recovery_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <random>

#include "tests/bench/averaging_group.h"

namespace starling::bench {
namespace {

constexpr int kUndisturbedRounds = 2;  // per group
constexpr std::uint64_t kSeed = 20'26;

struct FaultResults {
  std::vector<double> undisturbed;  // seconds, of the groups so far
  std::vector<double> struck;
  std::vector<double> recovery;  // time that each struck round took longer
  int identical = 0;             // groups whose survivors hold equal bits
  int correct = 0;               // groups in which every value is the mean of its reported contributors
  int expelled = 0;              // healthy peers that were taken for dead
  int deceived = 0;              // groups whose victim took other values for the result
  double complete = 1;           // smallest share of coordinates that all survivors are in
};

// Runs rounds that do not count: they open connections and, over shaped links, measure speeds.
Status settle(AveragingGroup& group, bool shaped, std::vector<double>& undisturbed) {
  for (int round = -warm_ups(shaped); round < kUndisturbedRounds; ++round) {
    STARLING_ASSIGN(const AveragingRound calm, group.run_round("average"));
    if (!calm.correct) return Error{ErrorCode::internal, "an undisturbed round gave wrong values"};
    if (round >= 0) undisturbed.push_back(calm.seconds);
    if (shaped) STARLING_TRY(group.share_speeds());
  }
  return {};
}

void hit(const std::string& fault, std::size_t victim, pid_t pid, const netlab::Lab* lab) {
  if (fault == "kill" || fault == "stop") {
    ::kill(pid, fault == "kill" ? SIGKILL : SIGSTOP);
  } else {
    lab->cut_off(victim, fault != "mute", fault != "deaf");
  }
}

Status strike(AveragingGroup& group, const InjectedFault& fault, FaultResults& results) {
  STARLING_ASSIGN(const AveragingRound round, group.run_round("average", fault));
  results.struck.push_back(round.seconds);
  results.recovery.push_back(round.seconds - median(results.undisturbed));
  results.identical += round.identical ? 1 : 0;
  results.correct += round.correct ? 1 : 0;
  results.expelled += round.expelled;
  results.deceived += round.deceived ? 1 : 0;
  results.complete = std::min(results.complete, round.complete);
  return {};
}

}  // namespace

Result<BenchResult> measure_recovery(const AveragingOptions& options, const std::filesystem::path& identities,
                                     const netlab::Lab* lab) {
  std::mt19937_64 rng(kSeed);
  std::uniform_real_distribution<double> uniform(0, 1);
  FaultResults results;
  for (int number = 0; number < options.rounds; ++number) {
    STARLING_ASSIGN(const auto group, AveragingGroup::start("averaging-peer", options, identities, lab));
    STARLING_TRY(settle(*group, lab != nullptr, results.undisturbed));
    InjectedFault fault;
    fault.victim = rng() % static_cast<std::size_t>(options.peers);
    fault.strike = [&](pid_t pid) { hit(options.fault, fault.victim, pid, lab); };
    fault.lives = options.fault != "kill" && options.fault != "stop";
    fault.after_s = (number + uniform(rng)) / options.rounds * median(results.undisturbed);
    STARLING_TRY(strike(*group, fault, results));
    fmt::print(stderr, "blow {} of {}: peer {} after {:.2f} s, the others {:+.2f} s\n", number + 1, options.rounds,
               fault.victim, fault.after_s, results.recovery.back());
    if (fault.lives) lab->cut_off(fault.victim, false, false);
  }
  BenchResult result;
  result.figures = {{"time_s", median(results.undisturbed)},
                    {"struck_time_s", median(results.struck)},
                    {"recovery_s", *std::max_element(results.recovery.begin(), results.recovery.end())},
                    {"recovery_median_s", median(results.recovery)},
                    {"survivors_identical", static_cast<double>(results.identical) / options.rounds},
                    {"values_correct", static_cast<double>(results.correct) / options.rounds},
                    {"blows", static_cast<double>(results.struck.size())},
                    {"expelled", results.expelled},
                    {"victims_deceived", static_cast<double>(results.deceived) / options.rounds},
                    {"complete_part", results.complete}};
  result.series = {
      {"time_s", results.undisturbed}, {"struck_time_s", results.struck}, {"recovery_s", results.recovery}};
  return result;
}

}  // namespace starling::bench
