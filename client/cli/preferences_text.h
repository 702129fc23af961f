// Preferences as text for people and as JSON.
#pragma once

#include <string>

#include "shared/control/control.h"

namespace starling::cli {

// A line for each setting, with its value and its meaning.
std::string format_preferences(const wire::Preferences& preferences);
// One line of JSON, as `starling prefs get --json` prints it.
std::string format_preferences_json(const wire::Preferences& preferences);

}  // namespace starling::cli
