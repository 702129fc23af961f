// One group or a grid: whichever is predicted to bring everybody the average first.
#pragma once

#include <cstddef>

#include "shared/swarm/group_formation.h"

namespace starling::swarm {

// What an averaging of a swarm will meet. Times in seconds, speeds in bytes per second.
struct SwarmForecast {
  std::size_t peers = 1;
  double vector_bytes = 0;    // on the wire, in one direction
  double bytes_per_s = 1;     // of a usual member's link, in its slower direction
  double round_s = 0;         // every round of groups, however small: to hear of it, to begin, to agree at the end
  double link_s = 0;          // what each further partner costs a member: its connection, its control frames
  double failures_per_s = 0;  // chance of one member to vanish within a second
  double recovery_s = 0;      // from a member's vanishing until the others have made up for it, …
  double restart_share = 0;   // … except for this share of vanishings, which cost the group its round
};

struct FormationForecast {
  FormationSpec spec;
  double undisturbed_s = 0;  // if nobody vanishes
  double expected_s = 0;     // until the slowest group of the last round is done; infinite when it never would be
};

// For one group and for planned grids.
FormationForecast predict(const FormationSpec& spec, const SwarmForecast& forecast);

// The best planned grid of 2, 3 or 4 rounds.
FormationForecast best_grid(const SwarmForecast& forecast);

// One group, unless the best grid is predicted to be faster.
FormationForecast choose_formation(const SwarmForecast& forecast);

}  // namespace starling::swarm
