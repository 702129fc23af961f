// starling-sim: seeded swarms of the product's own decision code on virtual time.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

#include "shared/base/log.h"
#include "shared/base/permutation.h"
#include "tests/sim/cell_swarm_command.h"
#include "tests/sim/decentralized_command.h"
#include "tests/sim/experiments.h"
#include "tests/sim/liar.h"
#include "tests/sim/moshpit_command.h"
#include "tests/sim/progress.h"
#include "tests/sim/swarm.h"

namespace {

using namespace starling;

struct Arguments {
  sim::SwarmOptions swarm;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  double seconds = 60;
  double calm = 40;
  double upload_mbit = 0;  // 0: drawn from the seed
  std::string liars = "5/16";
  bool vary = true;
  bool verbose = false;
};

constexpr double kLossMax = 1.3;          // by liars: the most that the loss grows
constexpr double kCenteredLossMax = 1.2;  // likewise, where contributions are bounded around the momentum
constexpr double kSlowedDownMax = 1.3;    // by liars: the most that rounds become longer
constexpr double kHonestSamplesLostMax = 0.02;
constexpr SampleCount kLiedToBatch = 1024;
constexpr SampleCount kCheatedBatch = 256;
constexpr Duration kCheatedFor = std::chrono::seconds(400);  // more than kAllOutWithin rounds
constexpr RoundIndex kAllOutWithin = 250;
constexpr double kCheatedLossMax = 1.1;
constexpr std::int64_t kFalseRoundsKeptMax = 2;
constexpr double kCheatedSeedsMax = 0.01;  // the fraction in which a cheat may stay

// Varies sizes and weathers, so that many seeds are not one swarm many times.
sim::SwarmOptions varied(sim::SwarmOptions options) {
  const std::uint64_t hash = mix64(options.seed);
  options.peers = 1 + static_cast<int>(hash % 12);
  options.seconds_between_faults = 1.5 + static_cast<double>(hash >> 8 & 15);
  options.segment_floats = 4 + static_cast<int>(hash >> 16 & 31);
  options.target_batch_size = 16 + static_cast<SampleCount>(hash >> 24 & 127);
  return options;
}

// `liars` is "K/N". Returns the error; empty if there is none.
std::string seat_liars(const std::string& liars, sim::SwarmOptions& options) {
  int count = 0;
  int all = 0;
  char more = 0;
  if (std::sscanf(liars.c_str(), "%d/%d%c", &count, &all, &more) != 2 || count < 1 || all <= count || all > 1000) {
    return fmt::format("--liars {}: give how many lie, and of how many volunteers, as in 5/16", liars);
  }
  options.peers = all - count;
  // Rounds take seconds, so that the time that members are kept counts, not their number.
  options.target_batch_size = kLiedToBatch;
  if (options.epoch_samples > 0) options.target_batch_size = std::min(kLiedToBatch, options.epoch_samples);
  options.seconds_between_faults = 0;
  // A poisoner's share of the mean is that of its samples.
  if (options.byzantine == "poisoner") options.samples_per_s_min = options.samples_per_s_max = 25;
  // Otherwise parts are equal.
  if (options.byzantine == "overclaimer") options.speeds_known = true;
  // Newcomers need the state.
  if (options.byzantine == "garbage-state") options.newcomers_trickle_s = 40;
  if (options.byzantine != "all" && sim::is_cheat(sim::lie_in_turn(options.byzantine, 0))) {
    options.samples_per_s_min = options.samples_per_s_max = 25;
    options.target_batch_size = kCheatedBatch;
    options.length = std::max(options.length, kCheatedFor);
  }
  const bool many = options.byzantine == "sybil" || options.byzantine == "crowd";
  options.liars = many ? sim::kSybilHosts : count;
  return {};
}

std::string rounds_text(const sim::SwarmOptions& options, const sim::SwarmResult& result) {
  if (options.seconds_between_kills <= 0) return {};
  return fmt::format(
      "a round {:.2f} s, the longest with kills {:.2f} s, idle {:.2f} s at most, with kills {:.2f} s, spread {:.3f} at "
      "most, with kills {:.3f} and {:.3f} in the mean, ",
      result.round_s_usual, result.round_s_longest, result.idle_s_usual, result.idle_s_longest,
      result.consensus_distance_usual, result.consensus_distance_most, result.consensus_distance_mean);
}

std::string feedback_text(const sim::SwarmResult& result) {
  if (result.feedbacks_checked == 0) return {};
  return fmt::format("{} rounds whose residuals were whole, ", result.feedbacks_checked);
}

void print_row(const sim::SwarmOptions& options, const sim::SwarmResult& result, double seconds) {
  fmt::print(
      "seed {}: {} peers, {} rounds, {} samples credited, {} crashes, {} freezes, {} cuts, {} coordinator crashes, {} "
      "rounds lost, {} samples counted in epochs and {} set aside, {} of these whole, {} mixings and {} with nobody, "
      "{} downloads, in step {:.3f}, longest averaging {:.2f} s, {}{}{:.1f} samples/s in the end, distance "
      "{:.3f} -> {:.3f}; {:.0f} virtual "
      "s, {} events in {:.2f} "
      "s, rounds of {:.3f} of what was asked for, {} honest samples beyond the room in plans, audits: {} right, {} "
      "missed, {} "
      "unchecked; {} cheats out, the last one since round {}, {} false rounds credited for good{}{}\n",
      options.seed, options.peers, result.rounds_decided, result.samples_ledger, result.crashes, result.freezes,
      result.partitions, result.coordinator_crashes, result.rounds_lost, result.samples_counted,
      result.samples_set_aside, result.epochs_complete, result.gossips, result.gossips_alone, result.downloads,
      result.in_step, result.averaging_s_max, rounds_text(options, result), feedback_text(result),
      result.samples_per_s_calm, result.distance_first, result.distance_last, result.virtual_s, result.events, seconds,
      result.batch_filled, result.honest_samples_beyond, result.audits.clean, result.audits.missed,
      result.audits.unchecked, result.audits.liars_out, result.audits.last_out, result.audits.false_rounds_kept,
      result.broken.empty() ? "" : "; BROKEN: ", result.broken);
}

// The loss after a round: half the mean squared distance of a parameter from samples' targets, whose variance is 1/3.
double loss(const sim::SwarmResult& result, RoundIndex round) {
  const auto after = result.distances.upper_bound(round);
  const double distance = after == result.distances.begin() ? result.distance_first : std::prev(after)->second;
  return 0.5 * (distance * distance + 1.0 / 3);
}

// The losses of one swarm over another's after equally many rounds: as many as both have had.
double loss_ratio(const sim::SwarmResult& one, const sim::SwarmResult& other) {
  const RoundIndex round = std::min(one.rounds_decided, other.rounds_decided) - 1;
  return loss(one, round) / loss(other, round);
}

// The losses of swarms with poisoners over those without, at worst.
struct Worst {
  double loss = 0;
  double of_mean = 0;  // the loss with the plain mean, likewise

  static void note(double loss, double& worst) { worst = std::max(worst, std::isfinite(loss) ? loss : HUGE_VAL); }
};

// Gradients that are turned about are as long as honest ones, and bounded around zero or the momentum they still count.
bool turns_about(const sim::SwarmOptions& options) { return options.poison == 3; }

bool is_centered(const sim::SwarmOptions& options) { return options.aggregation == "centered-clip"; }

// Returns how audits have failed; empty if they have not.
std::string unaudited(const sim::SwarmOptions& options, const sim::SwarmResult& result) {
  const sim::Cheats::Tally& audits = result.audits;
  if (audits.honest_sanctions > 0)
    return fmt::format("{} times an honest member lost its credit", audits.honest_sanctions);
  if (audits.false_rounds_kept > kFalseRoundsKeptMax) {
    return fmt::format("{} false rounds of one member are credited for good", audits.false_rounds_kept);
  }
  const bool all = audits.liars_out == options.liars && audits.last_out <= kAllOutWithin;
  return all ? std::string()
             : fmt::format("{} of {} cheats are out, the last one since round {}", audits.liars_out, options.liars,
                           audits.last_out);
}

// Returns why the swarm of these options does not bear its liars; empty if it does. `lied_to`: its result with them.
std::string harmed(const sim::SwarmOptions& options, const sim::SwarmResult& lied_to, Worst& worst) {
  const double lost =
      static_cast<double>(lied_to.honest_samples_lost) /
      static_cast<double>(std::max<SampleCount>(1, lied_to.honest_samples + lied_to.honest_samples_lost));
  if (lost > kHonestSamplesLostMax) return fmt::format("{:.1f} % of the honest samples were lost", 100 * lost);
  sim::SwarmOptions honest = options;
  honest.liars = 0;
  honest.byzantine.clear();
  const sim::SwarmResult alone = *sim::run_swarm(honest);
  // The calm at the end of a swarm is the shorter the faster all of its members are, liars among them.
  const auto round_s = [](const sim::SwarmResult& result) {
    return result.virtual_s / static_cast<double>(std::max<std::int64_t>(1, result.rounds_decided));
  };
  const double slower = round_s(lied_to) / round_s(alone);
  const double worse = loss_ratio(lied_to, alone);
  Worst::note(worse, worst.loss);
  if (is_centered(options)) {
    sim::SwarmOptions of_mean = options;
    of_mean.aggregation = "mean";
    of_mean.steps_with_momentum = true;
    Worst::note(loss_ratio(*sim::run_swarm(of_mean), alone), worst.of_mean);
  }
  if (options.audit_rate > 0) {
    if (std::string why = unaudited(options, lied_to); !why.empty()) return why;
    if (worse > kCheatedLossMax) return fmt::format("the loss is {:.2f} times that without liars", worse);
    return {};
  }
  const bool bears = worse <= (is_centered(options) ? kCenteredLossMax : kLossMax) || turns_about(options);
  if (options.byzantine == "poisoner" && !bears)
    return fmt::format("the loss is {:.2f} times that without liars", worse);
  if (slower > kSlowedDownMax) return fmt::format("rounds took {:.2f} times as long as without liars", slower);
  return {};
}

int run(const Arguments& arguments) {
  std::int64_t rounds = 0;
  std::int64_t crashes = 0;
  std::uint64_t broken = 0;
  Worst worst;
  std::int64_t epochs = 0;
  SampleCount samples = 0;
  SampleCount counted = 0;
  SampleCount set_aside = 0;
  const auto began = std::chrono::steady_clock::now();
  sim::Progress progress;
  for (std::uint64_t seed = arguments.first_seed; seed < arguments.first_seed + arguments.seeds; ++seed) {
    sim::SwarmOptions options = arguments.swarm;
    options.seed = seed;
    options.length = from_seconds(arguments.seconds);
    options.calm = from_seconds(arguments.calm);
    if (arguments.upload_mbit > 0) options.upload_mbit_min = options.upload_mbit_max = arguments.upload_mbit;
    if (arguments.vary) options = varied(options);
    if (!options.byzantine.empty()) {
      if (const std::string why = seat_liars(arguments.liars, options); !why.empty()) {
        fmt::print(stderr, "starling-sim swarm: {}\n", why);
        return 2;
      }
    }
    const auto start = std::chrono::steady_clock::now();
    auto run_of_seed = sim::run_swarm(options, [&](double of_seed) {
      const auto before = static_cast<double>(seed - arguments.first_seed);
      progress.show((before + of_seed) / static_cast<double>(arguments.seeds),
                    fmt::format("seed {} ({} of {}), {} broken so far", seed, seed - arguments.first_seed + 1,
                                arguments.seeds, broken));
    });
    if (!run_of_seed.ok()) {
      fmt::print(stderr, "starling-sim swarm: {}\n", run_of_seed.error().message);
      return 2;
    }
    sim::SwarmResult& result = *run_of_seed;
    if (options.liars > 0 && result.broken.empty()) result.broken = harmed(options, result, worst);
    if (result.broken.empty() && result.audits.honest_sanctions > 0) result.broken = "honest work was found false";
    const double seconds = to_seconds(std::chrono::steady_clock::now() - start);
    rounds += result.rounds_decided;
    epochs += result.epochs_complete;
    samples += result.samples_ledger;
    counted += result.samples_counted;
    set_aside += result.samples_set_aside;
    crashes += result.crashes + result.coordinator_crashes;
    if (!result.broken.empty()) ++broken;
    if (arguments.seeds <= 5 || !result.broken.empty()) {
      progress.clear();
      print_row(options, result, seconds);
      std::fflush(stdout);
    }
  }
  progress.clear();
  fmt::print("{} seeds, {} rounds, {} crashes, {} broken, {:.1f} s\n", arguments.seeds, rounds, crashes, broken,
             to_seconds(std::chrono::steady_clock::now() - began));
  if (arguments.swarm.epoch_samples > 0) {
    fmt::print("{} epochs complete; {} of {} accepted samples counted in epochs, {} samples set aside\n", epochs,
               counted, samples, set_aside);
  }
  if (arguments.swarm.byzantine == "poisoner") {
    fmt::print("loss: {:.3g} times that without liars, at worst{}\n", worst.loss,
               is_centered(arguments.swarm) ? fmt::format("; with the plain mean {:.3g} times", worst.of_mean) : "");
  }
  if (!arguments.swarm.byzantine.empty()) fmt::print("{} seeds, {} broken\n", arguments.seeds, broken);
  const double bearable = arguments.swarm.audit_rate > 0 ? kCheatedSeedsMax * static_cast<double>(arguments.seeds) : 0;
  return static_cast<double>(broken) <= bearable ? 0 : 1;
}

// CLI::Range lets "nan" pass.
CLI::Validator number_between(double least, double most) {
  const auto check = [=](std::string& text) {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(text, value);
    return is_number && value >= least && value <= most
               ? std::string()
               : fmt::format("'{}' is not a number from {:g} to {:g}", text, least, most);
  };
  return {check, fmt::format("{:g} to {:g}", least, most)};
}

void add_samples(CLI::App& app, sim::SwarmOptions& options) {
  app.add_option("--epoch", options.epoch_samples,
                 "Lease samples in epochs of so many: each is counted once in each; 0: draw independently")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--unusable", options.unusable_share,
                 "Share of an epoch's samples whose gradients are not finite, 0 to 1")
      ->check(number_between(0, 1))
      ->capture_default_str();
}

// The parts of a run manifest that an algorithm's word does not have, or has otherwise.
void add_parts(CLI::App& app, sim::SwarmOptions& options) {
  app.add_flag("--delay-parameter-updates", options.delay_parameter_updates,
               "Batches go on while those of the round before are averaged; without: as the algorithm has it");
  app.add_option("--codec", options.codec, "Of what is averaged; without: as the algorithm has it");
  app.add_option("--contribution-codec", options.contribution_codec, "Of each member's part, where it is another one");
  app.add_option(
         "--error-feedback", options.error_feedback,
         "Share of what codecs leave out that is made up for in the next round; below 0: as the algorithm has it")
      ->check(number_between(-1, 1))
      ->capture_default_str();
  app.add_option("--low-rank", options.low_rank, "Factors that stand for the parameters, a matrix then; 0: none")
      ->capture_default_str();
}

void add_liars(CLI::App& app, Arguments& arguments) {
  app.add_option("--audit-rate", arguments.swarm.audit_rate,
                 "Share of an honest member's rounds that others recompute, in the long run; 0: nobody's")
      ->check(number_between(0, 1))
      ->capture_default_str();
  app.add_option("--colluders", arguments.swarm.colluders,
                 "So many that do not lie otherwise confirm the liars' work, and blame that of others")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--byzantine", arguments.swarm.byzantine,
                 "Some of the volunteers lie in this way: all, " + sim::lie_names() +
                     "; or in several, with commas. No other faults, rounds of seconds. Each seed runs once more "
                     "without liars, and is broken, "
                     "too, if they make rounds a third longer, or lose more than 2 % of the honest samples");
  app.add_option("--liars", arguments.liars, "So many of so many, as in 5/16 (of sybils: all computers of one account)")
      ->capture_default_str();
  app.add_option("--poison", arguments.swarm.poison,
                 "Of poisoners: 0, 10^10 times the gradient; 1, -1000 times; 2, a constant direction; 3, the opposite; "
                 "-1: by turns")
      ->check(CLI::Range(-1, 3))
      ->capture_default_str();
}

// Returns the option of the number of peers.
const CLI::Option* add_swarm(CLI::App& app, Arguments& arguments) {
  auto* swarm = app.add_subcommand("swarm", "Train a quadratic with crashes, freezes, cuts and a dying coordinator");
  swarm->add_option("--seed", arguments.first_seed, "First seed")->capture_default_str();
  swarm->add_option("--seeds", arguments.seeds, "How many seeds, one after the other")->capture_default_str();
  swarm->add_option("--algorithm", arguments.swarm.algorithm, "As in a run's manifest.toml")->capture_default_str();
  swarm
      ->add_option("--mix-every", arguments.swarm.mix_every,
                   "Of algorithms that mix between rounds: own steps from one mixing to the next, at least; 0: as the "
                   "algorithm has it")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  auto* peers = swarm->add_option("--peers", arguments.swarm.peers, "Volunteers; default: varies with the seed");
  swarm->add_option("--parameters", arguments.swarm.parameters, "Length of the averaged vector")->capture_default_str();
  swarm->add_option("--batch", arguments.swarm.target_batch_size, "Samples a round")->capture_default_str();
  add_samples(*swarm, arguments.swarm);
  swarm->add_option("--formation", arguments.swarm.formation, "one-group, grid, or auto: as the algorithm has it")
      ->check(CLI::IsMember({"auto", "one-group", "grid"}))
      ->capture_default_str();
  swarm->add_option("--aggregation", arguments.swarm.aggregation,
                    "clipped, centered-clip (around the momentum, in one group) or mean (without a bound); without: as "
                    "the algorithm has it");
  swarm->add_option("--group-size", arguments.swarm.group_size, "Members of a group, at most; 0: whatever is best")
      ->capture_default_str();
  add_parts(*swarm, arguments.swarm);
  swarm->add_option("--seconds", arguments.seconds, "Virtual time with faults")->capture_default_str();
  swarm->add_option("--calm", arguments.calm, "Virtual time without, before the final check")->capture_default_str();
  swarm->add_option("--between-faults", arguments.swarm.seconds_between_faults, "Mean seconds between faults; 0: none")
      ->capture_default_str();
  swarm
      ->add_option("--between-kills", arguments.swarm.seconds_between_kills,
                   "Seconds from one kill of a volunteer to the next, after a third of --seconds; 0: none")
      ->capture_default_str();
  swarm->add_option("--calls-delayed", arguments.swarm.calls_delayed, "Share of calls to the coordinator, 0 to 1")
      ->check(number_between(0, 1))
      ->capture_default_str();
  swarm->add_option("--calls-lost", arguments.swarm.calls_lost, "Share of these calls, and of the answers, 0 to 1")
      ->check(number_between(0, 1))
      ->capture_default_str();
  swarm
      ->add_option("--between-hiccups", arguments.swarm.seconds_between_hiccups,
                   "Mean seconds, of each volunteer, until its computer is busy with something else; 0: never")
      ->capture_default_str();
  swarm->add_option("--hiccup", arguments.swarm.hiccup_s_max, "… for so many seconds, at most")->capture_default_str();
  swarm
      ->add_option("--download", arguments.swarm.download_s_min, "Seconds that a download of the state takes, at least")
      ->capture_default_str();
  swarm
      ->add_option("--batch-jitter", arguments.swarm.batch_jitter,
                   "How much batches' times vary: their standard deviation over their mean")
      ->check(number_between(0, 10))
      ->capture_default_str();
  swarm->add_option("--garbage", arguments.swarm.garbage_peers, "Of the volunteers, so many send what is no number");
  swarm->add_option("--slow", arguments.swarm.slow_peers, "… and so many send at a hundredth of the speed they tell");
  swarm->add_option("--accounts", arguments.swarm.accounts,
                    "The volunteers belong to so many accounts, in turn; 0: each to one of its own");
  swarm->add_flag("--coordinator-lies", arguments.swarm.coordinator_lies,
                  "The coordinator names states to some of the volunteers that nobody has made");
  add_liars(*swarm, arguments);
  swarm->add_option("--upload-mbit", arguments.upload_mbit, "Of every line, up; default: 5 to 100");
  swarm->add_flag("--speeds-known", arguments.swarm.speeds_known, "Plans know what lines carry");
  swarm->add_flag("--verbose", arguments.verbose, "Log what the product logs");
  swarm->footer("A broken invariant is printed with its seed, and ends the program with 1. Replay: swarm --seed N");
  return peers;
}

void add_moshpit(CLI::App& app, sim::MoshpitArguments& arguments) {
  CLI::App* moshpit = app.add_subcommand(
      "moshpit",
      "How fast the values of N peers become their average: all-reduce with restarts, gossip, random groups, Moshpit\n"
      "and the planned grid, with peers that miss rounds. Prints for each the rounds it takes and the error after\n"
      "some rounds, then whether one group or a grid is predicted to be faster");
  const auto rate = number_between(0, 1);
  moshpit->add_option("--peers", arguments.peers, "Sizes of swarms, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(2, 10'000'000))
      ->capture_default_str();
  moshpit
      ->add_option(
          "--grid", arguments.grid,
          "Its sides, such as 32x32 (Moshpit: the first one for all); auto: a square, a cube beyond 10 000 peers")
      ->capture_default_str();
  moshpit
      ->add_option("--failures", arguments.failures,
                   "Shares of peers that miss a round, 0 to 1, separated by commas; 0.01 is one in a hundred")
      ->delimiter(',')
      ->check(rate)
      ->capture_default_str();
  moshpit->add_option("--methods", arguments.methods, "Some of all-reduce,gossip,random-groups,moshpit,planned-grid")
      ->delimiter(',');
  moshpit->add_option("--rounds", arguments.rounds, "Rounds of groups")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  moshpit->add_option("--repeat", arguments.repetitions, "Runs from other values; figures are their means")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  moshpit->add_option("--seed", arguments.seed, "Of the first run; equal seeds, equal figures")->capture_default_str();
  moshpit->add_option("--goal", arguments.goal, "Error at which a run is there")->check(rate)->capture_default_str();
  moshpit->add_option("--json", arguments.json_file, "Also write every curve to this file");
  moshpit->add_option("--plot", arguments.plot_file, "Also draw the curves into this SVG file");
  const auto positive = number_between(1e-6, 1e9);
  const auto not_negative = number_between(0, 1e9);
  const auto forecast = [&](const char* name, double& value, const char* what, const CLI::Validator& range) {
    moshpit->add_option(name, value, what)->check(range)->capture_default_str()->group("Forecast");
  };
  forecast("--vector-mb", arguments.vector_mb, "Megabytes that are averaged, as they travel", positive);
  forecast("--mbit", arguments.mbit, "Mbit/s of a usual link, in its slower direction", positive);
  forecast("--link-ms", arguments.link_ms, "Milliseconds that every further partner costs a member", not_negative);
  forecast("--round-s", arguments.round_s, "Seconds that every round of groups costs", not_negative);
  forecast("--recovery-s", arguments.recovery_s, "Seconds until a group has made up for a lost member", not_negative);
  moshpit->footer(
      "Examples:\n"
      "  starling-sim moshpit                                      1024 peers on a full 32x32 grid\n"
      "  starling-sim moshpit --peers 60,900 --plot grids.svg      grids that are not full, with a picture\n"
      "  starling-sim moshpit --peers 100000 --grid 50x50x50 --rounds 9 --failures 0.05 --repeat 1");
}

void add_decentralized(CLI::App& app, sim::DecentralizedArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "decentralized",
      "Trains a small model with all-reduce, decentralized AdamW and decentralized AccumAdamW (arXiv 2410.11998) at\n"
      "several learning rates and on several topologies, where every worker has small batches");
  command->add_option("--workers", arguments.workers, "Workers")->check(CLI::Range(2, 1024))->capture_default_str();
  command->add_option("--batch", arguments.batch, "Samples of a worker's step")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--steps", arguments.steps, "Steps")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  command->add_option("--window", arguments.window, "AccumAdamW: steps between two updates of the moments")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--failures", arguments.failure_rate, "Share of workers that miss a mixing, 0 to 1")
      ->check(number_between(0, 1))
      ->capture_default_str();
  command->add_option("--seed", arguments.seed, "Of the first run; equal seeds, equal figures")->capture_default_str();
  command->add_option("--seeds", arguments.seeds, "Runs of each")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--json", arguments.json_file, "Also write every figure to this file");
  command->add_option("--plot", arguments.plot_file, "Also draw them into this SVG file");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"starling-sim: swarms of the product's own decision code on virtual time; equal seeds, equal runs"};
  Arguments arguments;
  sim::MoshpitArguments moshpit;
  sim::DecentralizedArguments decentralized;
  sim::CellSwarmArguments cells;
  app.require_subcommand(1);
  const CLI::Option* peers = add_swarm(app, arguments);
  add_moshpit(app, moshpit);
  add_decentralized(app, decentralized);
  sim::add_cell_swarm(app, cells);
  const sim::Experiments experiments(app);
  CLI11_PARSE(app, argc, argv);
  if (app.got_subcommand("moshpit")) return sim::run_moshpit(moshpit);
  if (app.got_subcommand("decentralized")) return sim::run_decentralized(decentralized);
  if (app.got_subcommand("cell-swarm")) return sim::run_cell_swarms(cells);
  if (const std::optional<int> status = experiments.run(app)) return *status;
  arguments.vary = peers->count() == 0;
  LogOptions log;
  log.level = arguments.verbose ? LogLevel::debug : LogLevel::error;
  init_logging(log);
  return run(arguments);
}
