#include "client/cli/preferences_text.h"

#include <fmt/core.h>

namespace starling::cli {

std::string format_preferences(const wire::Preferences& preferences) {
  std::string text = fmt::format("preset {}\n", wire::preset_of(preferences));
  for (const wire::PreferenceInfo& info : wire::preference_infos()) {
    text += fmt::format("  {:<22} {:<10} {}\n", info.name, wire::preference_text(preferences, info.name).value(),
                        info.help);
  }
  return text;
}

std::string format_preferences_json(const wire::Preferences& preferences) { return wire::encode(preferences) + "\n"; }

}  // namespace starling::cli
