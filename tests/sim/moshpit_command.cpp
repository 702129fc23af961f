#include "tests/sim/moshpit_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/base/result.h"
#include "shared/swarm/formation_choice.h"
#include "shared/wire/json_writer.h"
#include "tests/plots/curve_plot.h"
#include "tests/sim/progress.h"

namespace starling::sim {
namespace {

using swarm::FormationForecast;
using swarm::SwarmForecast;

constexpr std::size_t kSquareMax = 10'000;
constexpr std::uint32_t kSideMax = 10'000;
constexpr std::size_t kSidesMax = 6;
constexpr int kPlotDecades = 12;
constexpr int kShownRounds[] = {1, 2, 3, 4, 5, 6, 9, 12, 20, 50};

Result<std::vector<std::uint32_t>> sides_from(std::string_view text) {
  std::vector<std::uint32_t> sides;
  double cells = 1;
  while (true) {
    std::uint32_t side = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
    if (error != std::errc() || side < 2 || side > kSideMax || sides.size() == kSidesMax) break;
    sides.push_back(side);
    cells *= side;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() && cells <= 1e9) return sides;
    if (text.empty() || text.front() != 'x') break;
    text.remove_prefix(1);
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("--grid takes its sides, such as 32x32 or 50x50x50: up to {}, each 2 to {}, and at most 1e9 "
                           "cells",
                           kSidesMax, kSideMax)};
}

Result<std::vector<AveragingMethod>> methods_from(const std::vector<std::string>& names) {
  std::vector<AveragingMethod> methods;
  std::string known;
  for (const AveragingMethod method : kAveragingMethods) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(method));
    if (names.empty() || std::find(names.begin(), names.end(), to_string(method)) != names.end()) {
      methods.push_back(method);
    }
  }
  if (!names.empty() && methods.size() != names.size()) {
    return Error{ErrorCode::invalid_argument, "--methods takes, separated by commas and each once: " + known};
  }
  return methods;
}

std::string grid_text(const std::vector<std::uint32_t>& sides) { return fmt::format("{}", fmt::join(sides, "x")); }

// All methods at all failure rates for one size of swarm.
struct SwarmCurves {
  std::size_t peers = 0;
  std::vector<std::uint32_t> sides;
  std::vector<AveragingCurve> curves;
};

SwarmForecast forecast_for(const MoshpitArguments& arguments, std::size_t peers, double failure_rate) {
  SwarmForecast forecast;
  forecast.peers = peers;
  forecast.vector_bytes = arguments.vector_mb * 1e6;
  forecast.bytes_per_s = arguments.mbit * 1e6 / 8;
  forecast.link_s = arguments.link_ms / 1000;
  forecast.round_s = arguments.round_s;
  forecast.recovery_s = arguments.recovery_s;
  // The rate is that of one round of a grid; a vanishing peer does not know its formation.
  const FormationForecast grid = swarm::best_grid(forecast);
  forecast.failures_per_s = failure_rate * static_cast<double>(grid.spec.sides.size()) / grid.undisturbed_s;
  return forecast;
}

std::string seconds_text(double seconds) {
  return seconds < 1e6 ? fmt::format("{:.1f} s", seconds) : std::string("never");
}

void print_forecast(const MoshpitArguments& arguments, std::size_t peers) {
  fmt::print("\nOne group or a grid for {} MB over {} Mbit/s?\n{:<8} {:<28} {:>12} {:>12}  {}\n", arguments.vector_mb,
             arguments.mbit, "failing", "a lost member costs", "one group", "best grid", "so");
  for (const double failure_rate : arguments.failures) {
    for (const bool restarts : {false, true}) {
      SwarmForecast forecast = forecast_for(arguments, peers, failure_rate);
      forecast.restart_share = restarts ? 1 : 0;
      const FormationForecast one = swarm::predict({}, forecast);
      const FormationForecast grid = swarm::best_grid(forecast);
      const std::string cost = restarts ? "its group the round" : fmt::format("its group {:g} s", arguments.recovery_s);
      fmt::print("{:<8} {:<28} {:>12} {:>12}  {}\n", failure_rate, cost, seconds_text(one.expected_s),
                 seconds_text(grid.expected_s), to_string(swarm::choose_formation(forecast).spec));
    }
  }
}

void print_table(const MoshpitArguments& arguments, const SwarmCurves& swarm) {
  fmt::print(
      "\n{} peers, grid {}, {} repetition{}. Rounds until the mean square distance from the average is {:g} of what "
      "it was,\nand what it is after some rounds (failing: share of the peers that miss a round)\n",
      swarm.peers, grid_text(swarm.sides), arguments.repetitions, arguments.repetitions == 1 ? "" : "s",
      arguments.goal);
  fmt::print("{:<8} {:<14} {:>6}", "failing", "method", "rounds");
  for (const int round : kShownRounds) {
    if (round <= arguments.rounds) fmt::print(" {:>8}", fmt::format("after {}", round));
  }
  fmt::print("\n");
  for (const AveragingCurve& curve : swarm.curves) {
    const std::string rounds = fmt::format("{}{:.1f}", curve.never > 0 ? ">" : "", curve.rounds_to_goal);
    fmt::print("{:<8} {:<14} {:>6}", curve.setup.failure_rate, to_string(curve.setup.method), rounds);
    for (const int round : kShownRounds) {
      if (round > arguments.rounds) continue;
      fmt::print(" {:>8.1e}", curve.errors[static_cast<std::size_t>(round)]);
    }
    fmt::print("\n");
  }
}

std::string to_json(const MoshpitArguments& arguments, const std::vector<SwarmCurves>& swarms) {
  wire::JsonWriter out;
  out.open("", '{');
  out.integer("seed", static_cast<std::int64_t>(arguments.seed));
  out.integer("repetitions", arguments.repetitions);
  out.number("goal", arguments.goal);
  out.open("curves", '[');
  for (const SwarmCurves& swarm : swarms) {
    for (const AveragingCurve& curve : swarm.curves) {
      out.open("", '{');
      out.integer("peers", static_cast<std::int64_t>(swarm.peers));
      out.text("grid", grid_text(swarm.sides));
      out.number("failure_rate", curve.setup.failure_rate);
      out.text("method", to_string(curve.setup.method));
      out.number("rounds_to_goal", curve.rounds_to_goal);
      out.integer("never", curve.never);
      out.open("errors", '[');
      for (const double error : curve.errors) out.number("", error);
      out.close(']');
      out.close('}');
    }
  }
  out.close(']');
  out.close('}');
  return out.str() + "\n";
}

std::string to_svg(const std::vector<SwarmCurves>& swarms) {
  std::vector<plot::PlotPanel> panels;
  for (const SwarmCurves& swarm : swarms) {
    for (const AveragingCurve& curve : swarm.curves) {
      const std::string title = fmt::format("{} peers, {}, {:g} % failing", swarm.peers, grid_text(swarm.sides),
                                            100 * curve.setup.failure_rate);
      if (panels.empty() || panels.back().title != title) panels.push_back({title, {}});
      // A curve ends where it meets the axis; many on top of one another say nothing.
      std::vector<double> values;
      for (const double error : curve.errors) {
        values.push_back(error);
        if (error < std::pow(10.0, -kPlotDecades)) break;
      }
      panels.back().curves.push_back({std::string(to_string(curve.setup.method)), values});
    }
  }
  return plot::curve_plot(
      panels, {"How fast a swarm agrees on its average", "rounds", "mean square distance, of the first", kPlotDecades});
}

Result<std::vector<SwarmCurves>> plan_curves(const MoshpitArguments& arguments) {
  STARLING_ASSIGN(const std::vector<AveragingMethod> methods, methods_from(arguments.methods));
  std::vector<SwarmCurves> swarms;
  for (const std::size_t peers : arguments.peers) {
    SwarmCurves swarm{peers, automatic_sides(peers), {}};
    if (arguments.grid != "auto") {
      STARLING_ASSIGN(swarm.sides, sides_from(arguments.grid));
    }
    for (const double failure_rate : arguments.failures) {
      for (const AveragingMethod method : methods) {
        AveragingCurve curve;
        curve.setup = {method, peers, swarm.sides, failure_rate, arguments.rounds};
        swarm.curves.push_back(std::move(curve));
      }
    }
    swarms.push_back(std::move(swarm));
  }
  return swarms;
}

void compute(const MoshpitArguments& arguments, std::vector<SwarmCurves>& swarms) {
  double work = 0;  // peers times rounds
  for (const SwarmCurves& swarm : swarms) work += static_cast<double>(swarm.peers * swarm.curves.size());
  work *= static_cast<double>(arguments.repetitions) * arguments.rounds;
  double done = 0;
  Progress progress;
  for (SwarmCurves& swarm : swarms) {
    for (AveragingCurve& curve : swarm.curves) {
      const std::string what =
          fmt::format("{} peers, {} failing, {}", swarm.peers, curve.setup.failure_rate, to_string(curve.setup.method));
      progress.show(done / work, what);
      curve = averaging_curve(curve.setup, arguments.repetitions, arguments.seed, arguments.goal, [&] {
        done += static_cast<double>(swarm.peers);
        progress.show(done / work, what);
      });
    }
  }
}

Status write_files(const MoshpitArguments& arguments, const std::vector<SwarmCurves>& swarms) {
  if (!arguments.json_file.empty()) {
    STARLING_TRY(write_file_atomically(arguments.json_file, to_json(arguments, swarms)));
  }
  if (!arguments.plot_file.empty()) STARLING_TRY(write_file_atomically(arguments.plot_file, to_svg(swarms)));
  return {};
}

}  // namespace

std::vector<std::uint32_t> automatic_sides(std::size_t peers) {
  const std::size_t dims = peers > kSquareMax ? 3 : 2;
  std::uint64_t side = 2;
  const auto cells = [&] { return dims == 3 ? side * side * side : side * side; };
  while (cells() < peers) ++side;
  return std::vector<std::uint32_t>(dims, static_cast<std::uint32_t>(side));
}

int run_moshpit(const MoshpitArguments& arguments) {
  Result<std::vector<SwarmCurves>> swarms = plan_curves(arguments);
  if (!swarms.ok()) {
    fmt::print(stderr, "starling-sim moshpit: {}\n", swarms.error().message);
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  compute(arguments, *swarms);
  for (const SwarmCurves& swarm : *swarms) {
    print_table(arguments, swarm);
    print_forecast(arguments, swarm.peers);
  }
  fmt::print("\n{:.2f} s\n", to_seconds(std::chrono::steady_clock::now() - began));
  if (const Status written = write_files(arguments, *swarms); !written.ok()) {
    fmt::print(stderr, "starling-sim moshpit: {}\n", written.error().message);
    return 1;
  }
  return 0;
}

}  // namespace starling::sim
