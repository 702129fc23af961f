#include "client/policy/policy.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/client/policy/zones.h"

using namespace starling;
using namespace starling::policy;
using wire::PauseKind;
using wire::UseMode;

namespace {

const WallTime kNow = utc(2026, 11, 20, 11);  // Friday 12:00 in central Europe
constexpr std::int64_t kGigabyte = 1'000'000'000;

// A desktop with all sensors known and no obstacle.
struct Desk {
  wire::Preferences preferences;
  Surroundings around;
  wire::PauseRequest pause_request;
  WallTime now = kNow;
  std::int64_t month_bytes = 0;
  Reason before = Reason::none;

  Desk() {
    around.user_idle = std::chrono::hours(1);
    around.on_battery = false;
    around.metered = false;
    around.fullscreen = false;
    around.programs.emplace();
    around.temperature_c = 50;
    around.disk_free_bytes = 100 * kGigabyte;
    around.disk_used_bytes = 0;
    around.processor_threads = 16;
    around.memory_bytes = 16 * kGigabyte;
  }
  [[nodiscard]] Verdict verdict() const {
    const UtcOffset offset = central_europe();
    return decide({preferences, around, pause_request, now, offset, month_bytes, before});
  }
};

wire::WeekHours hours(std::string_view text) { return *wire::parse_week_hours(text); }

// One desk for each reason, with that obstacle and no other.
std::vector<std::pair<Reason, Desk>> every_obstacle() {
  std::vector<std::pair<Reason, Desk>> desks;
  const auto add = [&](Reason reason, auto change) {
    Desk desk;
    change(desk);
    desks.emplace_back(reason, desk);
  };
  add(Reason::paused, [](Desk& d) { d.pause_request.kind = PauseKind::now; });
  add(Reason::snoozed, [](Desk& d) { d.pause_request = {PauseKind::now, {kNow.unix_ms + 1}, "", false, {}}; });
  add(Reason::compute_off, [](Desk& d) { d.preferences.compute = UseMode::never; });
  add(Reason::network_off, [](Desk& d) { d.preferences.network = UseMode::never; });
  add(Reason::disk_low, [](Desk& d) { d.around.disk_free_bytes = kGigabyte; });
  add(Reason::disk_cap, [](Desk& d) { d.around.disk_used_bytes = 21 * kGigabyte; });
  add(Reason::too_hot, [](Desk& d) {
    d.preferences.limits.temperature_max_c = 80;
    d.around.temperature_c = 81;
  });
  add(Reason::data_cap, [](Desk& d) {
    d.preferences.traffic.data_max_gb_per_month = 5;
    d.month_bytes = 5 * kGigabyte;
  });
  add(Reason::exclusive_program, [](Desk& d) {
    d.preferences.when.exclusive_programs = {"Supertux2"};
    d.around.programs = {"bash", "supertux2"};
  });
  add(Reason::fullscreen, [](Desk& d) { d.around.fullscreen = true; });
  add(Reason::battery, [](Desk& d) { d.around.on_battery = true; });
  add(Reason::battery_low, [](Desk& d) {
    d.preferences.when.on_battery = true;
    d.around.on_battery = true;
    d.around.battery_percent = 49;
  });
  add(Reason::compute_hours, [](Desk& d) {
    d.preferences.hours.compute_schedule_on = true;
    d.preferences.hours.compute_schedule = hours("mon-fri 18-24");
  });
  add(Reason::in_use, [](Desk& d) {
    d.preferences.when.while_in_use = false;
    d.around.user_idle = std::chrono::seconds(179);
  });
  add(Reason::idle_unknown, [](Desk& d) {
    d.preferences.when.while_in_use = false;
    d.around.user_idle.reset();
  });
  add(Reason::metered, [](Desk& d) { d.around.metered = true; });
  add(Reason::network_hours, [](Desk& d) {
    d.preferences.hours.network_schedule_on = true;
    d.preferences.hours.network_schedule = hours("daily 0-6");
  });
  return desks;
}

}  // namespace

TEST_CASE("the end of the hours is known before it comes, where rules have hours") {
  Desk desk;  // Friday noon
  CHECK_FALSE(desk.verdict().stops_at);
  desk.preferences.hours.compute_schedule_on = true;
  desk.preferences.hours.compute_schedule = hours("daily 8-22");
  desk.preferences.hours.network_schedule_on = true;
  desk.preferences.hours.network_schedule = hours("daily 6-20");
  const Verdict verdict = desk.verdict();
  REQUIRE(verdict.may_train());
  REQUIRE(verdict.stops_at);
  CHECK(moment_text(*verdict.stops_at, desk.now, central_europe()) == "20:00");
  desk.preferences.network = UseMode::always;
  CHECK(moment_text(*desk.verdict().stops_at, desk.now, central_europe()) == "22:00");
  desk.preferences.compute = UseMode::always;
  CHECK_FALSE(desk.verdict().stops_at);
  desk.preferences.compute = UseMode::rules;
  desk.preferences.hours.compute_schedule = hours("daily 18-24");
  CHECK_FALSE(desk.verdict().may_train());
  CHECK_FALSE(desk.verdict().stops_at);
}

TEST_CASE("a computer with nothing in its way trains, and says nothing") {
  const Verdict verdict = Desk().verdict();
  CHECK(verdict.may_train());
  CHECK(verdict.text.empty());
  CHECK(verdict.network == NetworkUse::all);
  CHECK(verdict.gpu);
  CHECK(verdict.unknown.empty());
}

TEST_CASE("every reason there is has a text, an end, an action and a word of its own") {
  std::set<std::string_view> words;
  std::set<std::string> texts;
  for (const auto& obstacle : every_obstacle()) {
    const Reason reason = obstacle.first;
    const Verdict verdict = obstacle.second.verdict();
    CAPTURE(to_string(reason));
    CHECK(verdict.reason == reason);
    CHECK_FALSE(verdict.text.empty());
    CHECK_FALSE(verdict.ends_when.empty());
    CHECK_FALSE(verdict.action.label.empty());
    CHECK_FALSE(verdict.action.command.empty());
    words.insert(to_string(reason));
    texts.insert(verdict.text);
  }
  words.insert(to_string(Reason::none));
  CHECK(words.size() == kReasons);
  CHECK(texts.size() == kReasons - 1);
}

TEST_CASE("always leaves out the rules of when, but no limit and no wish") {
  auto obstacles = every_obstacle();
  for (auto& obstacle : obstacles) {
    const Reason reason = obstacle.first;
    Desk& desk = obstacle.second;
    if (desk.preferences.compute == UseMode::rules) desk.preferences.compute = UseMode::always;
    if (desk.preferences.network == UseMode::rules) desk.preferences.network = UseMode::always;
    CAPTURE(to_string(reason));
    CHECK(desk.verdict().may_train() == (reason > Reason::data_cap));
  }
}

TEST_CASE("a snooze ends by itself, a pause does not") {
  Desk desk;
  desk.pause_request = {PauseKind::now, {kNow.unix_ms + 3'600'000}, "gaming", false, {}};
  const Verdict snoozed = desk.verdict();
  CHECK(snoozed.text == "snoozed by you: gaming");
  CHECK(snoozed.ends_when == "13:00");
  CHECK(snoozed.ends_at == desk.pause_request.until);
  desk.now = desk.pause_request.until;
  CHECK(desk.verdict().may_train());
  desk.pause_request.until = {};
  CHECK(desk.verdict().reason == Reason::paused);
  CHECK_FALSE(desk.verdict().ends_at.has_value());
}

TEST_CASE("after this round is not yet a pause") {
  Desk desk;
  desk.pause_request.kind = PauseKind::after_round;
  CHECK(desk.verdict().may_train());
  CHECK(desk.verdict().pause_after_round);
}

TEST_CASE("what was too hot has to cool down by five degrees") {
  Desk desk;
  desk.preferences.limits.temperature_max_c = 80;
  desk.around.temperature_c = 78;
  CHECK(desk.verdict().may_train());
  desk.before = Reason::too_hot;
  CHECK(desk.verdict().reason == Reason::too_hot);
  desk.around.temperature_c = 75;
  CHECK(desk.verdict().may_train());
}

TEST_CASE("in use, the volunteer keeps half the processor and the graphics card") {
  Desk desk;
  CHECK(desk.verdict().threads == 14);
  CHECK(desk.verdict().memory_bytes == 8 * kGigabyte);
  desk.around.user_idle = std::chrono::seconds(1);
  CHECK(desk.verdict().threads == 8);
  CHECK(desk.verdict().memory_bytes == 4 * kGigabyte);
  CHECK_FALSE(desk.verdict().gpu);
  CHECK(desk.verdict().gpu_text == "somebody uses the computer");
  desk.preferences.when.gpu_while_in_use = true;
  CHECK(desk.verdict().gpu);
  desk.preferences.limits.threads_max = 3;
  CHECK(desk.verdict().threads == 3);
  desk.around.processor_threads = 1;
  CHECK(desk.verdict().threads == 1);
}

TEST_CASE("the graphics card can be snoozed alone") {
  Desk desk;
  desk.pause_request.gpu = true;
  desk.pause_request.gpu_until = {kNow.unix_ms + 60'000};
  CHECK(desk.verdict().may_train());
  CHECK_FALSE(desk.verdict().gpu);
  CHECK(desk.verdict().gpu_text == "snoozed by you, until 12:01");
  desk.now = desk.pause_request.gpu_until;
  CHECK(desk.verdict().gpu);
}

TEST_CASE("a program is known by the letters that the kernel tells of its name") {
  Desk desk;
  desk.preferences.when.exclusive_programs = {"cyberpunk2077.exe"};
  const auto runs = [&desk](const char* name) {
    desk.around.programs = std::vector<std::string>{name};
    return desk.verdict().reason == Reason::exclusive_program;
  };
  CHECK(runs("Cyberpunk2077.exe"));
  CHECK(runs("Cyberpunk2077.e"));
  CHECK_FALSE(runs("Cyberpunk2077"));
  CHECK_FALSE(runs("Cyberpunk2078.e"));
}

TEST_CASE("a sensor that cannot tell is named where a rule needs it, and forbids nothing") {
  Desk desk;
  desk.around = {};
  desk.preferences.limits.temperature_max_c = 80;
  desk.preferences.when.exclusive_programs = {"game"};
  const Verdict verdict = desk.verdict();
  CHECK(verdict.may_train());
  CHECK(verdict.unknown == std::vector<std::string>{"idle time", "battery", "metered network", "full screen",
                                                    "temperature", "running programs"});
  CHECK(verdict.threads == 1);
  desk.preferences.when.on_battery = desk.preferences.when.on_metered = desk.preferences.when.during_fullscreen = true;
  desk.preferences.limits.temperature_max_c.reset();
  desk.preferences.when.exclusive_programs.clear();
  CHECK(desk.verdict().unknown == std::vector<std::string>{"idle time"});
}

TEST_CASE("a used-up month keeps the coordinator informed until the next one") {
  Desk desk;
  desk.preferences.traffic.data_max_gb_per_month = 0.5;
  desk.month_bytes = kGigabyte / 2 - 1;
  CHECK(desk.verdict().may_train());
  ++desk.month_bytes;
  const Verdict verdict = desk.verdict();
  CHECK(verdict.reason == Reason::data_cap);
  CHECK(verdict.text == "this month's 0.5 GB of data are used up");
  CHECK(verdict.ends_when == "1 December 0:00");
  CHECK(verdict.network == NetworkUse::coordinator);
  desk.preferences.network = UseMode::never;
  CHECK(desk.verdict().network == NetworkUse::none);
}

TEST_CASE("the forecast goes on as the month went so far") {
  const Month month{utc(2026, 11, 1), utc(2026, 12, 1)};
  CHECK_FALSE(forecast_month_bytes(7, month, utc(2026, 11, 1, 23)).has_value());
  CHECK(forecast_month_bytes(1000, month, utc(2026, 11, 11)) == 3000);
  CHECK_FALSE(forecast_month_bytes(7, month, month.end).has_value());
}
