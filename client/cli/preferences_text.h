// Preferences in words, and the words of the command line as requests.
#pragma once

#include <string>

#include "shared/wire/control.h"

namespace starling::cli {

// A line for each setting, with its value and what it means.
std::string format_preferences(const wire::Preferences& preferences);
// As JSON, one line: what `starling prefs get --json` prints.
std::string format_preferences_json(const wire::Preferences& preferences);

}  // namespace starling::cli
