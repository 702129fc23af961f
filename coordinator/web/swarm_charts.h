// How fast the run goes, and how many computers take part, round by round.
#pragma once

#include <string>
#include <vector>

#include "db/stores/records.h"

namespace starling::web {

constexpr std::size_t kSwarmPointsMax = 120;

// Two charts side by side, of these rounds, newest first as the store lists them; each point stands for as many rounds
// in a row as it takes. Empty for fewer than three rounds.
std::string swarm_charts(const std::vector<db::RoundRecord>& newest_first);

}  // namespace starling::web
