#include "tests/sim/moshpit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/swarm/group_formation.h"
#include "shared/swarm/random_stream.h"
#include "tests/sim/normal_values.h"

namespace starling::sim {
namespace {

using swarm::FormationSpec;
using swarm::Groups;
using swarm::PeerIndex;
using swarm::RandomStream;

FormationSpec::Kind kind_of(AveragingMethod method) {
  switch (method) {
    case AveragingMethod::random_groups:
      return FormationSpec::Kind::random_groups;
    case AveragingMethod::moshpit:
      return FormationSpec::Kind::moshpit_keys;
    case AveragingMethod::planned_grid:
      return FormationSpec::Kind::planned_grid;
    default:
      return FormationSpec::Kind::one_group;
  }
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double mean_square_distance(const std::vector<double>& values, double from) {
  double sum = 0;
  for (const double value : values) sum += (value - from) * (value - from);
  return sum / static_cast<double>(values.size());
}

void average_groups(const Groups& groups, std::span<const double> weights, std::span<const std::uint8_t> took_part,
                    std::vector<double>& values) {
  for (std::size_t g = 0; g < groups.count(); ++g) {
    double sum = 0;
    double weight = 0;
    for (const PeerIndex peer : groups.group(g)) {
      if (took_part[peer] == 0) continue;
      sum += weights[peer] * values[peer];
      weight += weights[peer];
    }
    if (!(weight > 0)) continue;
    const double mean = sum / weight;
    for (const PeerIndex peer : groups.group(g)) {
      if (took_part[peer] != 0) values[peer] = mean;
    }
  }
}

// Replaces the value of every peer that takes part by the mean of those that do among itself and `reach` neighbours on
// either side.
void gossip(std::size_t reach, std::span<const std::uint8_t> took_part, std::vector<double>& values) {
  const std::size_t n = values.size();
  reach = std::min(reach, (n - 1) / 2);
  // before[k]: sums over the first k of a ring that begins `reach` places before peer 0 and ends as many after the
  // last.
  std::vector<std::pair<double, std::uint32_t>> before(n + 2 * reach + 1);
  for (std::size_t k = 0; k < n + 2 * reach; ++k) {
    const std::size_t peer = (k + n - reach) % n;
    before[k + 1] = before[k];
    if (took_part[peer] == 0) continue;
    before[k + 1].first += values[peer];
    ++before[k + 1].second;
  }
  for (std::size_t peer = 0; peer < n; ++peer) {
    if (took_part[peer] == 0) continue;
    const auto& [sum_to, count_to] = before[peer + 2 * reach + 1];
    const auto& [sum_from, count_from] = before[peer];
    values[peer] = (sum_to - sum_from) / (count_to - count_from);
  }
}

}  // namespace

std::string_view to_string(AveragingMethod method) {
  switch (method) {
    case AveragingMethod::all_reduce:
      return "all-reduce";
    case AveragingMethod::gossip:
      return "gossip";
    case AveragingMethod::random_groups:
      return "random-groups";
    case AveragingMethod::moshpit:
      return "moshpit";
    case AveragingMethod::planned_grid:
      return "planned-grid";
  }
  return {};
}

std::vector<double> averaging_errors(const AveragingSetup& setup, std::uint64_t seed,
                                     const std::function<void()>& on_round) {
  RandomStream random(seed);
  std::vector<double> values = normal_values(setup.peers, random);
  const double average = mean_of(values);
  const double at_first = mean_square_distance(values, average);
  const FormationSpec spec{kind_of(setup.method), setup.sides};
  const auto formation = swarm::make_formation(spec, std::vector<double>(setup.peers, 1.0), random.next());
  const std::vector<std::uint8_t> present(setup.peers, 1);
  std::vector<std::uint8_t> took_part(setup.peers, 1);
  std::vector<double> errors{1.0};
  for (int round = 0; round < setup.rounds; ++round) {
    bool all = true;
    for (std::uint8_t& took : took_part) {
      took = random.uniform() >= setup.failure_rate ? 1 : 0;
      all = all && took != 0;
    }
    if (setup.method == AveragingMethod::gossip) {
      gossip(setup.sides.front() / 2, took_part, values);
    } else if (setup.method != AveragingMethod::all_reduce || all) {
      const Groups groups = formation->form(present);
      average_groups(groups, formation->weights(), took_part, values);
      formation->settle(groups, took_part);
    }
    errors.push_back(mean_square_distance(values, average) / at_first);
    if (on_round) on_round();
  }
  return errors;
}

AveragingCurve averaging_curve(const AveragingSetup& setup, int repetitions, std::uint64_t first_seed, double goal,
                               const std::function<void()>& on_round) {
  AveragingCurve curve;
  curve.setup = setup;
  curve.errors.assign(static_cast<std::size_t>(setup.rounds) + 1, 0.0);
  for (int k = 0; k < repetitions; ++k) {
    const std::vector<double> errors = averaging_errors(setup, first_seed + static_cast<std::uint64_t>(k), on_round);
    for (std::size_t t = 0; t < errors.size(); ++t) curve.errors[t] += errors[t];
    const auto reached = std::find_if(errors.begin(), errors.end(), [&](double error) { return error <= goal; });
    if (reached == errors.end()) ++curve.never;
    const auto rounds = std::min<std::ptrdiff_t>(reached - errors.begin(), setup.rounds);
    curve.rounds_to_goal += static_cast<double>(rounds);
  }
  curve.rounds_to_goal /= repetitions;
  for (double& error : curve.errors) error /= repetitions;
  return curve;
}

}  // namespace starling::sim
