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

struct Blows {
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

void hit(const std::string& blow, std::size_t victim, pid_t pid, const netlab::Lab* lab) {
  if (blow == "kill" || blow == "stop") {
    ::kill(pid, blow == "kill" ? SIGKILL : SIGSTOP);
  } else {
    lab->cut_off(victim, blow != "mute", blow != "deaf");
  }
}

Status strike(AveragingGroup& group, const Blow& blow, Blows& blows) {
  STARLING_ASSIGN(const AveragingRound round, group.run_round("average", blow));
  blows.struck.push_back(round.seconds);
  blows.recovery.push_back(round.seconds - median(blows.undisturbed));
  blows.identical += round.identical ? 1 : 0;
  blows.correct += round.correct ? 1 : 0;
  blows.expelled += round.expelled;
  blows.deceived += round.deceived ? 1 : 0;
  blows.complete = std::min(blows.complete, round.complete);
  return {};
}

}  // namespace

Result<BenchResult> measure_recovery(const AveragingOptions& options, const std::filesystem::path& identities,
                                     const netlab::Lab* lab) {
  std::mt19937_64 rng(kSeed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Blows blows;
  for (int number = 0; number < options.rounds; ++number) {
    STARLING_ASSIGN(const auto group, AveragingGroup::start("averaging-peer", options, identities, lab));
    STARLING_TRY(settle(*group, lab != nullptr, blows.undisturbed));
    Blow blow;
    blow.victim = rng() % static_cast<std::size_t>(options.peers);
    blow.strike = [&](pid_t pid) { hit(options.blow, blow.victim, pid, lab); };
    blow.lives = options.blow != "kill" && options.blow != "stop";
    blow.after_s = (number + uniform(rng)) / options.rounds * median(blows.undisturbed);
    STARLING_TRY(strike(*group, blow, blows));
    fmt::print(stderr, "blow {} of {}: peer {} after {:.2f} s, the others {:+.2f} s\n", number + 1, options.rounds,
               blow.victim, blow.after_s, blows.recovery.back());
    if (blow.lives) lab->cut_off(blow.victim, false, false);
  }
  BenchResult result;
  result.figures = {{"time_s", median(blows.undisturbed)},
                    {"struck_time_s", median(blows.struck)},
                    {"recovery_s", *std::max_element(blows.recovery.begin(), blows.recovery.end())},
                    {"recovery_median_s", median(blows.recovery)},
                    {"survivors_identical", static_cast<double>(blows.identical) / options.rounds},
                    {"values_correct", static_cast<double>(blows.correct) / options.rounds},
                    {"blows", static_cast<double>(blows.struck.size())},
                    {"expelled", blows.expelled},
                    {"victims_deceived", static_cast<double>(blows.deceived) / options.rounds},
                    {"complete_part", blows.complete}};
  result.series = {{"time_s", blows.undisturbed}, {"struck_time_s", blows.struck}, {"recovery_s", blows.recovery}};
  return result;
}

}  // namespace starling::bench
