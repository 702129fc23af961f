#include "shared/swarm/formation_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "shared/base/verify.h"
#include "shared/swarm/grid_plan.h"

namespace starling::swarm {
namespace {

constexpr std::size_t kGridRoundsMax = 4;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Returns the expected largest of `groups` counts, each of how often in a row an event of this chance happens.
double expected_most(double chance, double groups) {
  constexpr int kTermsMax = 100'000;
  constexpr double kNegligible = 1e-9;
  double sum = 0;
  double in_a_row = chance;
  for (int terms = 0; terms < kTermsMax; ++terms, in_a_row *= chance) {
    const double term = -std::expm1(groups * std::log1p(-in_a_row));
    sum += term;
    if (term <= kNegligible) return sum;
  }
  return kInfinite;
}

// One round of `groups` groups with `members` each that all must be done.
struct GroupRound {
  double members = 1;
  double groups = 1;
  bool one_way = false;  // few bring what all others take
};

double undisturbed_s(const GroupRound& round, const SwarmForecast& forecast) {
  // A butterfly: each member sends and receives its share of the vector twice.
  const double vectors = (round.one_way ? 1 : 2) * (round.members - 1) / round.members;
  return forecast.round_s + forecast.link_s * (round.members - 1) +
         vectors * forecast.vector_bytes / forecast.bytes_per_s;
}

// Expected time of a round. A vanishing that costs the round: it begins again until nobody vanishes in that way. Any
// other: recovery_delay_s.
double expected_s(const GroupRound& round, const SwarmForecast& forecast) {
  const double once = undisturbed_s(round, forecast);
  const double vanishings_per_s = round.members * forecast.failures_per_s;
  const double spoilt = -std::expm1(-vanishings_per_s * forecast.restart_share * once);
  double seconds = once;
  if (spoilt > 0) seconds += once * expected_most(spoilt, round.groups);
  return seconds + recovery_delay_s(vanishings_per_s * (1 - forecast.restart_share), forecast.recovery_s, round.groups);
}

std::vector<GroupRound> rounds_of(const FormationSpec& spec, std::size_t peer_count) {
  const auto peers = static_cast<double>(peer_count);
  if (spec.kind == FormationSpec::Kind::one_group) return {{peers, 1}};
  double columns = 1;
  for (std::size_t t = 1; t < spec.sides.size(); ++t) columns *= spec.sides[t];
  columns = std::min(columns, peers);
  std::vector<GroupRound> rounds{{std::ceil(peers / columns), columns}};
  for (std::size_t t = 1; t < spec.sides.size(); ++t) {
    const double side = std::min<double>(spec.sides[t], peers);
    rounds.push_back({side, std::max(1.0, std::floor(peers / side))});
  }
  return rounds;
}

FormationSpec even_grid(std::size_t peers, std::size_t rounds) {
  const double side = std::round(std::pow(static_cast<double>(peers), 1 / static_cast<double>(rounds)));
  FormationSpec spec;
  spec.kind = FormationSpec::Kind::planned_grid;
  spec.sides.assign(rounds, static_cast<std::uint32_t>(std::max(1.0, side)));
  return spec;
}

}  // namespace

double recovery_delay_s(double vanishings_per_s, double recovery_s, double groups) {
  const double in_recovery = vanishings_per_s * recovery_s;
  if (in_recovery <= 0) return 0;
  // Mean time from the begin of a recovery to the next vanishing, if it comes before its end.
  const double usual_delay = recovery_s * (1 / in_recovery - 1 / std::expm1(in_recovery));
  return usual_delay * expected_most(-std::expm1(-in_recovery), groups);
}

FormationForecast predict(const FormationSpec& spec, const SwarmForecast& forecast) {
  VERIFY(spec.kind == FormationSpec::Kind::one_group || spec.kind == FormationSpec::Kind::planned_grid);
  VERIFY(forecast.peers >= 1 && forecast.bytes_per_s > 0);
  FormationForecast result;
  result.spec = spec;
  for (const GroupRound& round : rounds_of(spec, forecast.peers)) {
    result.undisturbed_s += undisturbed_s(round, forecast);
    result.expected_s += expected_s(round, forecast);
  }
  return result;
}

FormationForecast best_grid(const SwarmForecast& forecast) {
  FormationForecast best = predict(even_grid(forecast.peers, 2), forecast);
  for (std::size_t rounds = 3; rounds <= kGridRoundsMax; ++rounds) {
    const FormationForecast grid = predict(even_grid(forecast.peers, rounds), forecast);
    if (grid.expected_s < best.expected_s) best = grid;
  }
  return best;
}

FormationForecast choose_formation(const SwarmForecast& forecast) {
  const FormationForecast one_group = predict(FormationSpec{}, forecast);
  const FormationForecast grid = best_grid(forecast);
  return grid.expected_s < one_group.expected_s ? grid : one_group;
}

double columns_expected_s(std::size_t columns, const SwarmForecast& forecast) {
  const auto peers = static_cast<double>(forecast.peers);
  if (columns < 2) return expected_s({peers, 1}, forecast);
  const auto groups = static_cast<double>(columns);
  const double members = std::ceil(peers / groups);
  return expected_s({members, groups}, forecast) + expected_s({groups * kHeadsPerColumn, 1}, forecast) +
         expected_s({members, groups, true}, forecast);
}

std::size_t choose_columns(const SwarmForecast& forecast, std::size_t columns_max) {
  const std::size_t group_max = forecast.group_max > 0 ? forecast.group_max : forecast.peers;
  SwarmForecast one_group = forecast;
  one_group.peers = std::min(forecast.peers, group_max);
  const double in_it = static_cast<double>(one_group.peers) / static_cast<double>(forecast.peers);
  double best_rate = in_it / (forecast.batch_s + columns_expected_s(1, one_group));
  std::size_t best = 1;
  const std::size_t most = std::min(columns_max, group_max / kHeadsPerColumn);
  for (std::size_t columns = std::max<std::size_t>(2, (forecast.peers + group_max - 1) / group_max); columns <= most;
       ++columns) {
    const double rate = 1 / (forecast.batch_s + columns_expected_s(columns, forecast));
    if (rate > best_rate) {
      best_rate = rate;
      best = columns;
    }
  }
  return best;
}

}  // namespace starling::swarm
