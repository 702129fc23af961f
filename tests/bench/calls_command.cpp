#include "tests/bench/calls_command.h"

#include <CLI/CLI.hpp>

namespace starling::bench {
namespace {

constexpr const char* kDescription =
    "Volunteers call each other's experts: each is a process with the product's windows, desk and links (TLS, int8),\n"
    "and a trainer. Three tables, each row medians of repetitions that take turns (--json: all of them):\n"
    "delays: one caller and its holders behind lines of --mbit, a round trip of 0 ms and of each --delay apart (needs\n"
    "root: network namespaces). tokens_per_s with --in-flight micro-batches in flight, and one_tokens_per_s with one;\n"
    "ratio_to_undelayed (at 200 ms at least 0.8) and one_ratio, of both to those at 0 ms.\n"
    "loopback: a window of 1024 tokens x 512. time_s with the experts at another volunteer, own_cells_s with them in\n"
    "cells of one's own, whole_s with the whole model in one trainer; ratio_to_whole (at most 1.25),\n"
    "ratio_to_own_cells.\n"
    "volunteers: four that call and hold, behind 4 lines of 100 Mbit/s, and 3 of 100 and one of 10, 40 ms apart "
    "(needs\n"
    "root). tokens_per_s of all together.\n"
    "Of all: bound_tokens_per_s, what the lines can carry in closed form (calls_bound.h), and ratio_to_bound (at "
    "least\n"
    "0.85 and 0.75); cpu_s_per_gb, processor time of all daemons, without trainers, for each GB that crosses "
    "(loopback:\n"
    "at most 1.5); gradient_cpu_s_per_gb, likewise for each GB of cells' gradients, once at the end of a round;\n"
    "served_part, units of tokens and experts that holders computed, over those that windows needed (less\n"
    "than 1: lost; more: computed twice); processor_busy, the part of this machine's processor time that was in use. "
    "A\n"
    "row in which that is above 0.9 was not bound by lines, and says so: try it on more cores, or a lower --mbit.";

constexpr int kInFlightMax = 64;

void add_model_options(CLI::App& command, CallsModel& model) {
  command.add_option("--width", model.width, "Values of a token, on shaped links")
      ->check(CLI::Range(8, 4096))
      ->capture_default_str();
  command.add_option("--mlp-width", model.mlp_width, "Hidden layer of an expert, on shaped links")
      ->check(CLI::Range(1, 1 << 14))
      ->capture_default_str();
  command.add_option("--layers", model.layers, "All with experts, on shaped links")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--experts", model.experts, "In a layer, each a cell, on shaped links")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  command.add_option("--active", model.active, "Experts that a token goes through, on shaped links")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--micro-batch", model.micro_batch, "Samples of 64 tokens, on shaped links")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

}  // namespace

CLI::App* add_calls_command(CLI::App& app, CallsOptions& options) {
  CLI::App* command = app.add_subcommand("calls", kDescription);
  command->add_option("--table", options.tables, "All, if none is named")
      ->check(CLI::IsMember(kCallsTables))
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--delay", options.delays_ms, "Round trips between two volunteers of delays, in ms")
      ->check(CLI::Range(0.0, 10'000.0))
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--mbit", options.mbit, "Rate of each line of delays, both ways")
      ->check(CLI::Range(0.1, 10'000.0))
      ->capture_default_str();
  command->add_option("--holders", options.holders, "Of delays; each cell has two of them")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  command
      ->add_option("--in-flight", options.shaped.in_flight,
                   "Micro-batches on shaped links that are in flight at once; a window has twice as many")
      ->check(CLI::Range(1, kInFlightMax))
      ->capture_default_str();
  command->add_option("--near-in-flight", options.near.in_flight, "Likewise, of loopback, where a window has as many")
      ->check(CLI::IsMember({1, 2, 4, 8, 16}))
      ->capture_default_str();
  add_model_options(*command, options.shaped);
  command->add_option("--near-width", options.near.width, "Values of a token of loopback")
      ->check(CLI::Range(8, 4096))
      ->capture_default_str();
  command->add_option("--repetitions", options.repetitions)->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--seconds", options.seconds, "Counted, of each repetition of volunteers")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  command->add_flag_callback(
      "--foreground", [&options] { options.yields = false; },
      "Trainers take processor time as other programs do. In a run they take what is left: on a machine that does\n"
      "other things, too, they would stand still");
  command->final_callback([&options] {
    constexpr int kNearSamples = 16;  // 1024 tokens
    options.near.micro_batch = kNearSamples / options.near.in_flight;
    options.near.mlp_width = 2 * options.near.width;
  });
  return command;
}

CLI::App* add_calls_volunteer_command(CLI::App& app, CallsChild& child) {
  CLI::App* command = app.add_subcommand("calls-volunteer");
  command->group("");  // hidden
  command->add_option("--rank", child.rank)->required();
  command->add_option("--peers", child.peers)->required();
  command->add_option("--folder", child.folder)->required();
  command->add_option("--address", child.address);
  command->add_option("--model", child.model)->required();
  command->add_flag_callback("--foreground", [&child] { child.yields = false; });
  return command;
}

}  // namespace starling::bench
