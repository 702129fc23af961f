#include "shared/control/preferences.h"

#include <doctest/doctest.h>

#include "shared/control/pause_request.h"

using namespace starling;
using namespace starling::wire;

namespace {

// A value of each setting that differs from its default.
constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
    {"compute", "always"},
    {"gpu", "never"},
    {"network", "always"},
    {"while_in_use", "no"},
    {"gpu_while_in_use", "yes"},
    {"idle_minutes", "17"},
    {"on_battery", "yes"},
    {"battery_min_percent", "30"},
    {"on_metered", "yes"},
    {"during_fullscreen", "yes"},
    {"exclusive_programs", "supertux2, Krita"},
    {"compute_schedule_on", "yes"},
    {"compute_schedule", "mon-fri 18-24"},
    {"network_schedule_on", "yes"},
    {"network_schedule", "daily 0-6"},
    {"threads_in_use_percent", "40"},
    {"threads_idle_percent", "60"},
    {"threads_max", "3"},
    {"memory_in_use_percent", "10"},
    {"memory_idle_percent", "20"},
    {"cells_max_gb", "1.5"},
    {"gpu_memory_percent", "30"},
    {"temperature_max_c", "80"},
    {"disk_max_gb", "7"},
    {"disk_free_min_gb", "9"},
    {"upload_max_mbit_s", "1.5"},
    {"download_max_mbit_s", "16"},
    {"data_max_gb_per_month", "2.5"},
    {"data_month_first_day", "15"},
    {"port_mapping", "no"},
    {"update_check", "no"},
    {"update_install", "no"},
    {"relay_max_mbit_s", "20"},
};

}  // namespace

TEST_CASE("every setting can be set and read as text, and comes back from the file alone of its kind") {
  REQUIRE(std::size(kOthers) == preference_infos().size());
  for (const auto& other : kOthers) {
    const std::string_view name = other.first;
    const std::string_view value = other.second;
    CAPTURE(name);
    Preferences preferences;
    CHECK(*preference_text(preferences, name) != value);
    REQUIRE(set_preference(preferences, name, value).ok());
    CHECK(*preference_text(preferences, name) == value);
    const auto back = decode_preferences(encode(preferences));
    REQUIRE_MESSAGE(back.ok(), back.error().message);
    CHECK(*back == preferences);
    for (const PreferenceInfo& info : preference_infos()) {
      CHECK((*preference_text(*back, info.name) == *preference_text({}, info.name)) == (info.name != name));
      CHECK_FALSE(info.help.empty());
    }
  }
}

TEST_CASE("the defaults come back, and an empty file means them") {
  CHECK(*decode_preferences(encode(Preferences())) == Preferences());
  CHECK(*decode_preferences("{}") == Preferences());
  CHECK(*decode_preferences(R"({"threads_max":null,"of_a_later_version":1})") == Preferences());
}

TEST_CASE("a value that cannot be is refused, named, with what can be") {
  const std::pair<const char*, const char*> wrong[] = {
      {"compute", "sometimes"},         {"on_battery", "maybe"},        {"idle_minutes", "0"},
      {"idle_minutes", "3.5"},          {"threads_max", "none of it"},  {"threads_max", "65"},
      {"disk_max_gb", "none"},          {"compute_schedule", "mon 25"}, {"exclusive_programs", "a,,b"},
      {"data_max_gb_per_month", "nan"},
  };
  for (const auto& other : wrong) {
    const char* name = other.first;
    Preferences preferences;
    const Status set = set_preference(preferences, name, other.second);
    REQUIRE_FALSE_MESSAGE(set.ok(), name);
    CHECK(set.error().code == ErrorCode::invalid_argument);
    CHECK(set.error().message.find(name) != std::string::npos);
    CHECK(preferences == Preferences());
  }
  Preferences preferences;
  CHECK(set_preference(preferences, "colour", "red").error().code == ErrorCode::not_found);
}

TEST_CASE("none takes a cap off again") {
  Preferences preferences;
  REQUIRE(set_preference(preferences, "threads_max", "2").ok());
  REQUIRE(set_preference(preferences, "threads_max", "none").ok());
  REQUIRE(set_preference(preferences, "exclusive_programs", "game").ok());
  REQUIRE(set_preference(preferences, "exclusive_programs", "none").ok());
  CHECK(preferences == Preferences());
}

TEST_CASE("a file with a wrong value is refused by its name") {
  for (const char* json : {R"({"threads_max":0})", R"({"on_battery":"yes"})", R"({"compute":"perhaps"})",
                           R"({"exclusive_programs":[""]})", R"({"network_schedule":"mon"})"}) {
    const auto decoded = decode_preferences(json);
    REQUIRE_FALSE_MESSAGE(decoded.ok(), json);
  }
  CHECK(decode_preferences(R"({"threads_max":0})").error().message.find("threads_max") != std::string::npos);
}

TEST_CASE("a preset sets what its name promises and leaves what is the volunteer's own") {
  Preferences preferences;
  CHECK(preset_of(preferences) == "gentle");
  preferences.when.exclusive_programs = {"game"};
  preferences.traffic.data_max_gb_per_month = 5;
  preferences.traffic.upload_max_mbit_s = 2;
  preferences.traffic.download_max_mbit_s = 8;
  preferences.hours.compute_schedule_on = true;
  for (const char* preset : {"dedicated", "balanced", "gentle"}) {
    REQUIRE(apply_preset(preferences, preset).ok());
    CHECK(preset_of(preferences) == preset);
    CHECK(preferences.when.exclusive_programs.size() == 1);
    CHECK(preferences.traffic.data_max_gb_per_month == 5);
    CHECK(preferences.traffic.upload_max_mbit_s == 2);
    CHECK(preferences.traffic.download_max_mbit_s == 8);
    CHECK(preferences.hours.compute_schedule_on);
  }
  preferences.when.idle_minutes = 4;
  CHECK(preset_of(preferences) == "custom");
  CHECK(apply_preset(preferences, "turbo").error().message.find("gentle") != std::string::npos);
}

TEST_CASE("a dedicated computer gives all its threads, a gentle one half of them while in use") {
  Preferences preferences;
  CHECK(preferences.limits.threads_in_use_percent == 50);
  CHECK_FALSE(preferences.when.on_battery);
  CHECK_FALSE(preferences.when.on_metered);
  CHECK_FALSE(preferences.when.during_fullscreen);
  CHECK_FALSE(preferences.when.gpu_while_in_use);
  REQUIRE(apply_preset(preferences, "dedicated").ok());
  CHECK(preferences.limits.threads_in_use_percent == 100);
  CHECK_FALSE(preferences.when.on_metered);  // somebody pays for it
}

TEST_CASE("a wish comes back as it was made") {
  const PauseRequest wish{PauseKind::after_round, {1'800'000'000'000}, "gäming \"hard\"", true, {1'700'000'000'000}};
  CHECK(*decode_pause_request(encode(wish)) == wish);
  CHECK(*decode_pause_request(encode(PauseRequest())) == PauseRequest());
  CHECK_FALSE(decode_pause_request(R"({"pause":"later"})").ok());
  CHECK_FALSE(decode_pause_request("{}").ok());
}
