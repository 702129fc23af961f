// The learning rate of a round, equal to the bit on every machine.
#pragma once

#include "shared/base/ids.h"
#include "shared/run/optimizer_options.h"

namespace starling::optim {

// `round` counts from 0. See ScheduleOptions for the formulas.
double learning_rate(const wire::ScheduleOptions& schedule, RoundIndex round);

}  // namespace starling::optim
