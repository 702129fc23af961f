#include "tests/sim/cell_swarm_command.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "shared/base/log.h"
#include "shared/base/permutation.h"
#include "tests/sim/cell_swarm.h"
#include "tests/sim/progress.h"

namespace starling::sim {
namespace {

// Sizes, faults and memory differ from seed to seed, so that many seeds are not one swarm many times.
CellSwarmOptions options_of(const CellSwarmArguments& arguments, std::uint64_t seed) {
  CellSwarmOptions options = arguments.swarm;
  const std::uint64_t hash = mix64(seed);
  options.seed = seed;
  options.length = from_seconds(arguments.seconds);
  options.peers = arguments.peers > 0 ? arguments.peers : 3 + static_cast<int>(hash % 8);
  options.liars = std::min(arguments.liars, (options.peers - 1) / 2);
  options.holders = arguments.holders > 0 ? arguments.holders : 1 + static_cast<int>(hash >> 4 & 3) % 3;
  options.seconds_between_faults = arguments.faults >= 0 ? arguments.faults : 1.5 + static_cast<double>(hash >> 8 & 7);
  options.layers = 1 + static_cast<int>(hash >> 12 & 1);
  options.rows = 2 + static_cast<int>(hash >> 16 & 3);
  options.columns = 1 + static_cast<int>(hash >> 20 & 1);
  options.experts_per_cell = 1 + static_cast<int>(hash >> 24 & 3);
  options.answers_min = static_cast<int>(hash >> 28 & 1);
  options.memory = (hash >> 32 & 3) == 0 ? 0.9 : 2.2;
  options.micro_batches = 1 + static_cast<int>(hash >> 36 & 3);
  options.desk_bytes = 1500 << (hash >> 40 & 3);
  return options;
}

void print_row(const CellSwarmOptions& options, const CellSwarmResult& result, double seconds) {
  fmt::print(
      "seed {}: {} volunteers, {} cells with {} holders, {} windows and {} that ended early, {} units answered and {} "
      "not, {} came back, {} calls refused, {} crashes, {} departures, {} freezes, {} pauses, {} slow, {} cuts, {} "
      "coordinator crashes, {} cells moved, {} rounds, {} steps back of {} rounds at most, a cell without holders for "
      "{:.1f} s at most, {} samples served and {} unconfirmed, {} credited to liars, loss {:.3f} -> {:.3f}; {:.0f} "
      "virtual s, {} events in {:.2f} s{}{}\n",
      options.seed, options.peers, result.cells, options.holders, result.windows, result.windows_lost, result.units,
      result.units_lost, result.units_back, result.refused, result.crashes, result.departures, result.freezes,
      result.pauses, result.slow, result.cuts, result.coordinator_crashes, result.cells_moved, result.rounds,
      result.adoptions, result.rounds_lost_most, result.cover_s_longest, result.samples_served,
      result.samples_unconfirmed, result.samples_lied, result.loss_first, result.loss_last, result.virtual_s,
      result.events, seconds, result.broken.empty() ? "" : "; BROKEN: ", result.broken);
  std::fflush(stdout);
}

std::string how_to_repeat(const CellSwarmArguments& arguments, std::uint64_t seed) {
  std::string command = fmt::format("starling-sim cell-swarm --seed {} --seconds {:g}", seed, arguments.seconds);
  if (arguments.peers > 0) command += fmt::format(" --peers {}", arguments.peers);
  if (arguments.holders > 0) command += fmt::format(" --holders {}", arguments.holders);
  if (arguments.liars > 0) command += fmt::format(" --liars {}", arguments.liars);
  if (arguments.faults >= 0) command += fmt::format(" --faults {:g}", arguments.faults);
  return command + " --verbose";
}

}  // namespace

void add_cell_swarm(CLI::App& app, CellSwarmArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "cell-swarm",
      "Trains a model whose experts are held by a few volunteers each, who call one another's: crashes, departures,\n"
      "freezes, pauses, slow computers, cuts and a dying coordinator. Each unit of work counts once at most, no call\n"
      "goes beyond its budget, no desk beyond its memory, results are those of the holders' states, and in the end\n"
      "each cell has its holders");
  command->add_option("--seed", arguments.first_seed, "First seed")->capture_default_str();
  command->add_option("--seeds", arguments.seeds, "How many seeds, one after the other")->capture_default_str();
  command->add_option("--peers", arguments.peers, "Volunteers; default: varies with the seed")
      ->check(CLI::Range(1, 200));
  command->add_option("--holders", arguments.holders, "Holders of each cell; default: varies with the seed")
      ->check(CLI::Range(1, 8));
  command
      ->add_option("--liars", arguments.liars,
                   "Accounts of two volunteers each, but for one at least, that claim more than they have served, and "
                   "confirm that to each other")
      ->check(CLI::Range(0, 100));
  command
      ->add_option("--faults", arguments.faults, "Mean seconds between faults; 0: none; default: varies with the seed")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--seconds", arguments.seconds, "Virtual time with faults; a minute without follows")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_flag("--verbose", arguments.verbose, "Log what the product logs");
  command->footer(
      "A broken invariant is printed with its seed, and ends the program with 1.\n"
      "Examples:\n"
      "  starling-sim cell-swarm --seeds 200\n"
      "  starling-sim cell-swarm --seeds 50 --holders 1 --faults 2      each cell is lost again and again\n"
      "  starling-sim cell-swarm --seed 7 --verbose                     one seed again, with the product's log");
}

int run_cell_swarms(const CellSwarmArguments& arguments) {
  LogOptions log;
  log.level = arguments.verbose ? LogLevel::debug : LogLevel::error;
  init_logging(log);
  std::uint64_t broken = 0;
  std::int64_t windows = 0, units = 0;
  SampleCount served = 0, unconfirmed = 0, lied = 0;
  const auto began = std::chrono::steady_clock::now();
  Progress progress;
  for (std::uint64_t seed = arguments.first_seed; seed < arguments.first_seed + arguments.seeds; ++seed) {
    const CellSwarmOptions options = options_of(arguments, seed);
    const auto start = std::chrono::steady_clock::now();
    const auto run = run_cell_swarm(options, [&](double of_seed) {
      const auto before = static_cast<double>(seed - arguments.first_seed);
      progress.show((before + of_seed) / static_cast<double>(arguments.seeds),
                    fmt::format("seed {} ({} of {}), {} broken so far", seed, seed - arguments.first_seed + 1,
                                arguments.seeds, broken));
    });
    if (!run.ok()) {
      fmt::print(stderr, "starling-sim cell-swarm: {}\n", run.error().message);
      return 2;
    }
    windows += run->windows;
    units += run->units;
    served += run->samples_served;
    unconfirmed += run->samples_unconfirmed;
    lied += run->samples_lied;
    if (!run->broken.empty()) ++broken;
    if (arguments.seeds > 5 && run->broken.empty()) continue;
    progress.clear();
    print_row(options, *run, to_seconds(std::chrono::steady_clock::now() - start));
    if (!run->broken.empty()) fmt::print("repeat it: {}\n", how_to_repeat(arguments, seed));
  }
  progress.clear();
  fmt::print(
      "{} windows, {} units, {} samples served and {} unconfirmed, {} credited to liars, {:.1f} s\n{} seeds, {} "
      "broken\n",
      windows, units, served, unconfirmed, lied, to_seconds(std::chrono::steady_clock::now() - began), arguments.seeds,
      broken);
  return broken == 0 ? 0 : 1;
}

}  // namespace starling::sim
