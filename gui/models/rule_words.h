// The volunteer's rules in the window's language: a sentence for each code of wire::RulesStatus.
#pragma once

#include "gui/models/situation.h"

namespace starling::models {

// The situation of a daemon whose rules keep it from training.
Situation pausedByRules(const wire::DaemonStatus& status, const wire::Preferences& preferences, WallTime now);

}  // namespace starling::models
