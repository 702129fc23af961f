// Charts of the run's speed and of its computers, round by round.
#pragma once

#include <string>
#include <vector>

#include "db/stores/records.h"

namespace starling::web {

constexpr std::size_t kSwarmPointsMax = 120;

// Two charts side by side of these rounds, which come newest first as the store lists them; each point stands for
// several consecutive rounds if there are many. Empty for fewer than three rounds.
std::string swarm_charts(const std::vector<db::RoundRecord>& newest_first);

}  // namespace starling::web
