#include "tests/sim/push_sum_command.h"

#include <fmt/format.h>

#include <vector>

#include "shared/base/files.h"
#include "tests/plots/curve_plot.h"
#include "tests/sim/push_sum.h"

namespace starling::sim {
namespace {

constexpr int kShownRounds[] = {10, 50, 100, 200, 500};
constexpr double kLossRate = 0.1;
constexpr int kPlotDecades = 15;
constexpr int kPlotEvery = 5;  // rounds

struct Curve {
  PushSumSetup setup;
  std::vector<double> errors;
};

std::vector<Curve> compute(const PushSumArguments& arguments, const std::vector<PushSumMethod>& methods,
                           double loss_rate) {
  std::vector<Curve> curves;
  for (const PushSumMethod method : methods) {
    PushSumSetup setup{.method = method, .peers = arguments.peers, .loss_rate = loss_rate};
    setup.bits = arguments.bits;
    setup.rounds = arguments.rounds;
    curves.push_back({setup, push_sum_errors(setup, arguments.seed)});
  }
  return curves;
}

void print_table(const std::string& title, const std::vector<Curve>& curves) {
  fmt::print("\n{}\n\n| method |", title);
  for (const int round : kShownRounds) fmt::print(" after {} |", round);
  fmt::print("\n|---|");
  for (std::size_t k = 0; k < std::size(kShownRounds); ++k) fmt::print("---|");
  fmt::print("\n");
  for (const Curve& curve : curves) {
    fmt::print("| {} |", to_string(curve.setup.method));
    for (const int round : kShownRounds) {
      const auto at = static_cast<std::size_t>(round);
      fmt::print(" {} |", at < curve.errors.size() ? fmt::format("{:.1e}", curve.errors[at]) : std::string());
    }
    fmt::print("\n");
  }
}

plot::PlotPanel panel_of(const std::string& title, const std::vector<Curve>& curves) {
  plot::PlotPanel panel{title, {}};
  for (const Curve& curve : curves) {
    plot::PlotCurve shown{std::string(to_string(curve.setup.method)), {}};
    for (std::size_t t = 0; t < curve.errors.size(); t += kPlotEvery) {
      shown.values.push_back(curve.errors[t] / curve.errors.front());
    }
    panel.curves.push_back(std::move(shown));
  }
  return panel;
}

}  // namespace

Status run_push_sum(const PushSumArguments& arguments) {
  const std::string lossy = fmt::format("{:g} % of the messages get lost", 100 * kLossRate);
  const std::string narrow = fmt::format("{} bits a value, nothing gets lost", arguments.bits);
  using Method = PushSumMethod;
  const std::vector<Curve> with_loss =
      compute(arguments, {Method::running_sums, Method::plain_shares, Method::naive}, kLossRate);
  const std::vector<Curve> quantized = compute(arguments, {Method::differences, Method::direct}, 0);
  fmt::print("{} peers, each heard by three others: the largest error of anybody's value of the mean\n",
             arguments.peers);
  print_table(lossy, with_loss);
  print_table(narrow, quantized);
  if (arguments.plot_file.empty()) return {};
  const std::string svg =
      plot::curve_plot({panel_of(lossy, with_loss), panel_of(narrow, quantized)},
                       {fmt::format("The mean of {} peers over lines of one way", arguments.peers),
                        fmt::format("rounds / {}", kPlotEvery), "largest error, of the first", kPlotDecades});
  return write_file_atomically(arguments.plot_file, svg);
}

}  // namespace starling::sim
