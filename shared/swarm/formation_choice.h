// Chooses one group or a grid, by the predicted time until everybody has the average.
#pragma once

#include <cstddef>

#include "shared/swarm/group_formation.h"

namespace starling::swarm {

// The time until a group has made up for a member that vanished while they averaged (docs/averaging.md).
constexpr double kRecoverySeconds = 2;

// Returns how much longer an averaging lasts, on average, that is done when nobody has vanished for recovery_s; earlier
// vanishings are made up for while the rest still flows. For `groups` such groups at once, each with vanishings at this
// rate, until the last one is done. For one group it is the time that a Poisson process takes to leave a gap of
// recovery_s, less the gap: (exp(vanishings_per_s recovery_s) - 1) / vanishings_per_s - recovery_s.
double recovery_delay_s(double vanishings_per_s, double recovery_s, double groups = 1);

// The conditions of a swarm's averaging. Times in seconds, speeds in bytes per second.
struct SwarmForecast {
  std::size_t peers = 1;
  double vector_bytes = 0;  // on the wire, in one direction
  double bytes_per_s = 1;   // a usual member's link in its slower direction
  double round_s = 0;  // overhead of every round of groups, however small: to hear of it, to begin, to agree at the end
  double link_s = 0;   // cost of each further partner for a member: its connection, its control frames
  double failures_per_s = 0;  // chance of one member to vanish within a second
  double recovery_s = 0;      // time from a member's vanishing until the others have made up for it
  double restart_share = 0;   // fraction of vanishings that cost the group its round
  double batch_s = 0;         // time in which the swarm computes the batch that it averages then
  std::size_t group_max = 0;  // the most members of a group; 0: any number
};

// A formation with the predicted length of its averaging, in seconds.
struct FormationForecast {
  FormationSpec spec;
  double undisturbed_s = 0;  // if nobody vanishes
  double expected_s = 0;     // until the slowest group of the last round is done; infinite when it never would be
};

// Predicts one group and planned grids.
FormationForecast predict(const FormationSpec& spec, const SwarmForecast& forecast);

// The best planned grid of 2, 3 or 4 rounds.
FormationForecast best_grid(const SwarmForecast& forecast);

// One group, unless the best grid is predicted to be faster.
FormationForecast choose_formation(const SwarmForecast& forecast);

// Returns the time of a round of columns and heads (grid_plan.h), until everybody holds its result; with one column:
// one group of everybody. The vector is moved 2 1/2 times as often as in one group: heads average the columns'
// averages, columns spread that.
double columns_expected_s(std::size_t columns, const SwarmForecast& forecast);
// Returns the number of columns, at most `columns_max`, with which most of the swarm's samples of an hour are averaged;
// 1: one group. If the swarm is larger than a group can be, one group averages only its members' samples.
std::size_t choose_columns(const SwarmForecast& forecast, std::size_t columns_max);

}  // namespace starling::swarm
