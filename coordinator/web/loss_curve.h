// A chart of the model's progress.
#pragma once

#include <string>
#include <vector>

#include "db/stores/records.h"

namespace starling::web {

constexpr std::size_t kCurvePointsMax = 240;

// A chart of the held-out bits per byte over rounds, oldest first; empty for fewer than two evaluations.
std::string loss_curve(const std::vector<db::Evaluation>& evaluations);

}  // namespace starling::web
