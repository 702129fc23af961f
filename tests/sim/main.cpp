// starling-sim: seeded swarms of the product's own decision code on virtual time.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "shared/base/log.h"
#include "shared/base/permutation.h"
#include "tests/sim/swarm.h"

namespace {

using namespace starling;

struct Arguments {
  sim::SwarmOptions swarm;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  double seconds = 60;
  double calm = 40;
  bool vary = true;
};

// Different sizes and weathers, so that many seeds are not the same swarm many times.
sim::SwarmOptions varied(sim::SwarmOptions options) {
  const std::uint64_t hash = mix64(options.seed);
  options.peers = 1 + static_cast<int>(hash % 12);
  options.seconds_between_faults = 1.5 + static_cast<double>(hash >> 8 & 15);
  options.segment_floats = 4 + static_cast<int>(hash >> 16 & 31);
  options.target_batch_size = 16 + static_cast<SampleCount>(hash >> 24 & 127);
  return options;
}

void print_row(const sim::SwarmOptions& options, const sim::SwarmResult& result, double seconds) {
  fmt::print(
      "seed {}: {} peers, {} rounds, {} samples credited, {} crashes, {} freezes, {} cuts, {} coordinator crashes, {} "
      "rounds lost, longest averaging {:.2f} s, distance {:.3f} -> {:.3f}; {:.0f} virtual s, {} events in {:.2f} "
      "s{}{}\n",
      options.seed, options.peers, result.rounds_decided, result.samples_ledger, result.crashes, result.freezes,
      result.partitions, result.coordinator_crashes, result.rounds_lost, result.averaging_s_max, result.distance_first,
      result.distance_last, result.virtual_s, result.events, seconds,
      result.broken.empty() ? "" : "; BROKEN: ", result.broken);
}

int run(const Arguments& arguments) {
  std::int64_t rounds = 0;
  std::int64_t crashes = 0;
  std::uint64_t broken = 0;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t seed = arguments.first_seed; seed < arguments.first_seed + arguments.seeds; ++seed) {
    sim::SwarmOptions options = arguments.swarm;
    options.seed = seed;
    options.length = from_seconds(arguments.seconds);
    options.calm = from_seconds(arguments.calm);
    if (arguments.vary) options = varied(options);
    const auto start = std::chrono::steady_clock::now();
    const sim::SwarmResult result = sim::run_swarm(options);
    const double seconds = to_seconds(std::chrono::steady_clock::now() - start);
    rounds += result.rounds_decided;
    crashes += result.crashes + result.coordinator_crashes;
    if (!result.broken.empty()) ++broken;
    if (arguments.seeds <= 5 || !result.broken.empty()) print_row(options, result, seconds);
    std::fflush(stdout);
  }
  fmt::print("{} seeds, {} rounds, {} crashes, {} broken, {:.1f} s\n", arguments.seeds, rounds, crashes, broken,
             to_seconds(std::chrono::steady_clock::now() - began));
  return broken == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"starling-sim: swarms of the product's own decision code on virtual time; equal seeds, equal runs"};
  Arguments arguments;
  bool verbose = false;
  app.require_subcommand(1);
  auto* swarm = app.add_subcommand("swarm", "Train a quadratic with crashes, freezes, cuts and a dying coordinator");
  swarm->add_option("--seed", arguments.first_seed, "First seed")->capture_default_str();
  swarm->add_option("--seeds", arguments.seeds, "How many seeds, one after the other")->capture_default_str();
  auto* peers = swarm->add_option("--peers", arguments.swarm.peers, "Volunteers; default: varies with the seed");
  swarm->add_option("--parameters", arguments.swarm.parameters, "Length of the averaged vector")->capture_default_str();
  swarm->add_option("--batch", arguments.swarm.target_batch_size, "Samples a round")->capture_default_str();
  swarm->add_option("--seconds", arguments.seconds, "Virtual time with faults")->capture_default_str();
  swarm->add_option("--calm", arguments.calm, "Virtual time without, before the final check")->capture_default_str();
  swarm->add_option("--between-faults", arguments.swarm.seconds_between_faults, "Mean seconds between faults; 0: none")
      ->capture_default_str();
  swarm->add_flag("--verbose", verbose, "Log what the product logs");
  app.footer("A broken invariant is printed with its seed, and ends the program with 1. Replay: swarm --seed N");
  CLI11_PARSE(app, argc, argv);
  arguments.vary = peers->count() == 0;
  LogOptions log;
  log.level = verbose ? LogLevel::debug : LogLevel::error;
  init_logging(log);
  return run(arguments);
}
