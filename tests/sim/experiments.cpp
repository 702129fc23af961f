#include "tests/sim/experiments.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tests/sim/allocation_command.h"
#include "tests/sim/cells_command.h"
#include "tests/sim/consensus_command.h"
#include "tests/sim/departures_command.h"
#include "tests/sim/elastic_command.h"
#include "tests/sim/local_methods_command.h"
#include "tests/sim/push_sum_command.h"
#include "tests/sim/step_time_command.h"
#include "tests/sim/tracking_command.h"

namespace starling::sim {
namespace {

void add_peers(CLI::App& command, std::size_t& peers, std::size_t least) {
  command.add_option("--peers", peers, "Peers")->check(CLI::Range(least, std::size_t{10'000}))->capture_default_str();
}

void add_rounds(CLI::App& command, int& rounds) {
  command.add_option("--rounds", rounds, "Rounds of messages")->check(CLI::Range(1, 100'000))->capture_default_str();
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "Equal seeds, equal figures")->capture_default_str();
}

void add_seeds(CLI::App& command, std::uint64_t& first, int& count) {
  command.add_option("--seed", first, "Of the first run; equal seeds, equal figures")->capture_default_str();
  command.add_option("--seeds", count, "Runs of each")->check(CLI::Range(1, 1000))->capture_default_str();
}

void add_options(CLI::App& command, TrackingArguments& arguments) {
  command.description(
      "How near to the lowest point of everybody's losses peers on a ring come that hold different data: D-PSGD,\n"
      "gradient tracking and DeTAG (arXiv 2006.08085), each at several steps");
  add_peers(command, arguments.peers, 3);
  command.add_option("--gossips", arguments.gossips, "DeTAG: accelerated gossips a step")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_rounds(command, arguments.rounds);
  add_seed(command, arguments.seed);
}

void add_options(CLI::App& command, PushSumArguments& arguments) {
  command.description(
      "How exact the mean becomes over lines that carry one way only: with messages that get lost, by running sums, "
      "by\n"
      "shares and by plain means, and with few bits a value, of differences and of the values themselves");
  add_peers(command, arguments.peers, 4);
  command.add_option("--bits", arguments.bits, "Of a value")->check(CLI::Range(2, 8))->capture_default_str();
  add_rounds(command, arguments.rounds);
  add_seed(command, arguments.seed);
}

void add_options(CLI::App& command, ConsensusArguments& arguments) {
  command.description(
      "How seldom decentralized workers can mix their parameters, at a fixed interval and whenever they are further\n"
      "apart than a share of their gradients' length (arXiv 2102.04828)");
  command.add_option("--steps", arguments.steps, "Steps")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  add_seeds(command, arguments.seed, arguments.seeds);
}

void add_options(CLI::App& command, StepTimeArguments& arguments) {
  command.description(
      "How long steps of all-reduce and of decentralized workers take (arXiv 2410.11998): what overlap gains, what\n"
      "jitter and stragglers cost, and what is predicted for the paper's cluster");
  add_seed(command, arguments.seed);
}

void add_options(CLI::App& command, LocalMethodsArguments& arguments) {
  command.description(
      "Trains a small model by methods whose workers meet once in ten or fifty steps (DiLoCo, SparseLoCo, FedAvg, "
      "NoLoCo\n"
      "and gossip in pairs), beside one worker alone and gradients averaged at every step, at several learning rates");
  command.add_option("--meetings", arguments.meetings, "Of those who meet once in 50 steps")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add_seeds(command, arguments.seed, arguments.seeds);
}

void add_options(CLI::App& command, AllocationArguments& /*arguments*/) {
  command.description(
      "How long an averaging takes over lines of different speeds, with equal parts, one server, parts in proportion "
      "to\n"
      "speeds, and those that plans have (arXiv 2106.10207)");
}

void add_options(CLI::App& command, ElasticArguments& arguments) {
  command.description(
      "How far a swarm whose members join, leave and die ends from one process that takes the very same samples "
      "(arXiv\n"
      "2106.10207), by optimizer");
  command.add_option("--rounds", arguments.rounds, "Averagings, each with a step")
      ->check(CLI::Range(10, 100'000))
      ->capture_default_str();
  add_seed(command, arguments.seed);
}

void add_options(CLI::App& command, DeparturesArguments& arguments) {
  command.description(
      "How many samples a second count where volunteers are killed and come back, by how long rounds are and how "
      "often\n"
      "that happens, beside what starling-coordinator plan says of such a swarm");
  add_seeds(command, arguments.seed, arguments.seeds);
}

void add_options(CLI::App& command, CellsArguments& arguments) {
  command.description(
      "Trains a mixture of experts that others hold on pictures of clothes (Debian's package dataset-fashion-mnist),\n"
      "without delay, with calls that take long, and with holders that fail as well, beside a dense model whose\n"
      "gradients are as old (the emulator of Learning@home, arXiv 2002.04013). Ends with 1 if delay and failures cost\n"
      "more than a point of accuracy, or the dense model is less than 3 points behind at a quarter of the updates");
  command
      .add_option("--delay-ms", arguments.delay_ms,
                  "Mean of what the calls of a caller's step take together; before it computes a second by itself")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      .add_option("--failures", arguments.failures,
                  "Share of experts that do not answer, drawn for each picture and layer, 0 to 0.9")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  command.add_option("--callers", arguments.callers, "Volunteers, each with one step at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      .add_option("--updates", arguments.updates,
                  "Callers' steps in each training, a multiple of 64; fewer than the default are too few for the last "
                  "line to hold")
      ->check(CLI::Range(64, 10'000'000))
      ->capture_default_str();
  command.add_option("--inputs-to-step", arguments.inputs_to_step, "Inputs on which an expert steps by itself")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--updates-to-step", arguments.updates_to_step,
                  "Updates after an expert's first input, when it steps on fewer")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_seeds(command, arguments.seed, arguments.seeds);
  command.footer(
      "Examples:\n"
      "  starling-sim cells                              the whole table: ten minutes on a free core\n"
      "  starling-sim cells --updates 2048 --seeds 1     its shape, in a minute\n"
      "  starling-sim cells --failures 0.3 --plot cells.svg");
}

template <typename Arguments>
std::function<Status()> add_experiment(CLI::App& app, const char* name, Status (*run)(const Arguments&)) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(name);
  add_options(*command, *arguments);
  command->add_option("--plot", arguments->plot_file, "Also draw the figures into this SVG file");
  return [run, arguments] { return run(*arguments); };
}

}  // namespace

Experiments::Experiments(CLI::App& app) {
  const auto add = [&](const char* name, auto run) { experiments_.push_back({name, add_experiment(app, name, run)}); };
  add("tracking", run_tracking);
  add("push-sum", run_push_sum);
  add("consensus", run_consensus);
  add("step-time", run_step_time);
  add("local-steps", run_local_methods);
  add("allocation", run_allocation);
  add("elastic", run_elastic);
  add("departures", run_departures);
  add("cells", run_cells);
}

std::optional<int> Experiments::run(const CLI::App& app) const {
  for (const Experiment& experiment : experiments_) {
    if (!app.got_subcommand(experiment.name)) continue;
    const Status done = experiment.run();
    if (!done.ok()) fmt::print(stderr, "starling-sim {}: {}\n", experiment.name, done.error().message);
    return done.ok() ? 0 : 1;
  }
  return std::nullopt;
}

}  // namespace starling::sim
