#include "client/cli/preferences_text.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("all settings are listed with their values and what they mean") {
  wire::Preferences preferences;
  preferences.limits.threads_max = 3;
  const std::string text = cli::format_preferences(preferences);
  CHECK(text.starts_with("preset gentle\n"));
  for (const wire::PreferenceInfo& info : wire::preference_infos()) {
    CHECK(text.find(std::string(info.name) + " ") != std::string::npos);
    CHECK(text.find(info.help) != std::string::npos);
  }
  CHECK(text.find("threads_max            3 ") != std::string::npos);
}

TEST_CASE("for programs they are the file's own JSON") {
  CHECK(*wire::decode_preferences(cli::format_preferences_json({})) == wire::Preferences());
}
