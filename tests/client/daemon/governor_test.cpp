#include "client/daemon/governor.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;
using policy::Reason;

namespace {

class TestClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return monotonic; }
  [[nodiscard]] WallTime wall_now() const override { return wall; }
  TimePoint monotonic = TimePoint() + std::chrono::hours(1);
  void pass(std::int64_t ms) {
    monotonic += from_ms(ms);
    wall.unix_ms += ms;
  }
  void pass_until(WallTime when) { pass(when.unix_ms - wall.unix_ms); }
  WallTime wall{1'790'000'000'000};  // in September 2026
};

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kYearMs = 365 * 24 * kHourMs;

struct Desk {
  testing::TempDir folder;
  TestClock clock;
  int threads = 0;

  std::optional<SettledClock> settled;

  // The computer has started, too: what its clock says is all that is known of the time.
  Governor start() { return {storage::PreferenceFiles(folder.path()), settled.emplace(clock, clock), threads}; }
};

wire::Pause pause_for(std::string duration) { return {.duration = std::move(duration)}; }

wire::SetPreferences setting(const char* name, const char* value) { return {{}, {{name, value}}}; }

}  // namespace

TEST_CASE("a snooze survives a restart and ends when it said it would") {
  Desk desk;
  WallTime until;
  {
    Governor governor = desk.start();
    REQUIRE(governor.pause(pause_for("1h")).ok());
    until = governor.decide().ends_at.value();
    CHECK(until.unix_ms == desk.clock.wall.unix_ms + kHourMs);
  }
  desk.clock.wall.unix_ms += kHourMs / 2;
  desk.clock.monotonic = TimePoint();  // the computer has restarted
  Governor governor = desk.start();
  CHECK(governor.verdict().reason == Reason::snoozed);
  CHECK(governor.verdict().ends_at == until);
  desk.clock.pass_until(until);
  CHECK(governor.decide().may_train());
}

TEST_CASE("a clock that is wrong for seconds ends no snooze, and makes none longer") {
  Desk desk;
  Governor governor = desk.start();
  REQUIRE(governor.pause(pause_for("1h")).ok());
  const WallTime until = governor.verdict().ends_at.value();
  for (const std::int64_t wrong_ms : {5 * kYearMs, -5 * kYearMs}) {
    desk.clock.wall.unix_ms += wrong_ms;
    desk.clock.pass(6000);
    CHECK(governor.decide().reason == Reason::snoozed);
    CHECK(governor.verdict().ends_at == until);
    desk.clock.wall.unix_ms -= wrong_ms;
    CHECK(governor.decide().ends_at == until);
  }
  desk.clock.pass_until(until);
  CHECK(governor.decide().may_train());
}

TEST_CASE("a snooze lasts as long as it was to, however the clock is set meanwhile, and a restart knows") {
  Desk desk;
  {
    Governor governor = desk.start();
    REQUIRE(governor.pause(pause_for("1h")).ok());
    desk.clock.pass(kHourMs / 2);
    desk.clock.wall.unix_ms += 2 * kHourMs;
    CHECK(governor.decide().reason == Reason::snoozed);
    desk.clock.pass(kHourMs / 4);
  }
  Governor governor = desk.start();
  CHECK(governor.decide().reason == Reason::snoozed);
  desk.clock.pass(kHourMs / 4);
  CHECK(governor.decide().may_train());
  REQUIRE(governor.pause(pause_for("1h")).ok());
  desk.clock.wall.unix_ms -= 2 * kHourMs;
  CHECK(governor.decide().reason == Reason::snoozed);
  desk.clock.pass(kHourMs);
  CHECK(governor.decide().may_train());
}

TEST_CASE("a wrong clock gives back nothing of the month's data, at a start or later") {
  Desk desk;
  const auto month_bytes = [](const Governor& governor) {
    wire::DaemonStatus status;
    governor.describe(status);
    return status.rules.month_bytes;
  };
  {
    Governor governor = desk.start();
    REQUIRE(governor.change_preferences(setting("data_max_gb_per_month", "0.0005")).ok());
    governor.count({3'500'000, 0, 0});
    governor.save_traffic();
    desk.clock.wall.unix_ms += 5 * kYearMs;
    desk.clock.pass(6000);
    CHECK(governor.decide().reason == Reason::data_cap);
    desk.clock.wall.unix_ms -= 5 * kYearMs;
    CHECK(governor.decide().reason == Reason::data_cap);
  }
  desk.clock.wall.unix_ms -= 5 * kYearMs;  // a battery is empty
  Governor governor = desk.start();
  CHECK(governor.decide().reason == Reason::data_cap);
  desk.clock.pass(6000);
  desk.clock.wall.unix_ms += 5 * kYearMs;  // the time service sets it right
  CHECK(governor.decide().reason == Reason::data_cap);
  desk.clock.pass(70'000);
  CHECK(governor.decide().reason == Reason::data_cap);
  CHECK(month_bytes(governor) == 3'500'000);
  governor.save_traffic();
  desk.clock.wall.unix_ms += 5 * kYearMs;  // the next start is ahead, and nobody tells the time
  {
    Governor ahead = desk.start();
    CHECK(ahead.decide().may_train());
    ahead.count({1000, 0, 0});
    ahead.save_traffic();
  }
  desk.clock.wall.unix_ms -= 5 * kYearMs;
  Governor back = desk.start();
  CHECK(back.decide().reason == Reason::data_cap);
  CHECK(month_bytes(back) == 3'501'000);
  back.hear_time(desk.clock.wall);
  CHECK(back.decide().reason == Reason::data_cap);
  CHECK(month_bytes(back) == 3'501'000);
  desk.clock.pass_until(back.verdict().ends_at.value());
  back.hear_time(desk.clock.wall);
  CHECK(back.decide().may_train());
}

TEST_CASE("a journey gives back nothing of the month's data, in either direction") {
  const char* const before = std::getenv("TZ");
  const std::string kept = before == nullptr ? "" : before;
  Desk desk;
  for (const bool told : {false, true}) {
    ::setenv("TZ", "CET-1", 1);
    Governor governor = desk.start();
    REQUIRE(governor.change_preferences(setting("data_max_gb_per_month", "0.0005")).ok());
    governor.count({600'000, 0, 0});
    governor.save_traffic();
    for (const char* const zone : {"EST5", "JST-9", "CET-1", "HST10"}) {
      ::setenv("TZ", zone, 1);
      if (told) governor.hear_time(desk.clock.wall);
      CHECK(governor.decide().reason == Reason::data_cap);
      CHECK(governor.verdict().ends_at.value() > desk.clock.wall);
      Governor started = desk.start();
      CHECK(started.verdict().reason == Reason::data_cap);
    }
  }
  before == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", kept.c_str(), 1);
}

TEST_CASE("a pause after this round waits for its end, and a restart is one") {
  Desk desk;
  wire::Pause request = pause_for("");
  request.after_round = true;
  {
    Governor governor = desk.start();
    REQUIRE(governor.pause(request).ok());
    CHECK(governor.decide().may_train());
    CHECK(governor.verdict().pause_after_round);
    governor.on_round_finished();
    CHECK(governor.verdict().reason == Reason::paused);
    REQUIRE(governor.resume({}).ok());
    governor.on_round_finished();
    CHECK(governor.verdict().may_train());
    REQUIRE(governor.pause(request).ok());
  }
  CHECK(desk.start().verdict().reason == Reason::paused);
}

TEST_CASE("resuming says what else is in the way, and how to change it") {
  Desk desk;
  Governor governor = desk.start();
  policy::Surroundings around;
  around.on_battery = true;
  governor.see(around);
  REQUIRE(governor.pause(pause_for("")).ok());
  const auto said = governor.resume({});
  REQUIRE(said.ok());
  CHECK(said->find("battery") != std::string::npos);
  CHECK(said->find("starling prefs set on_battery yes") != std::string::npos);
}

TEST_CASE("the graphics card is paused and resumed by itself") {
  Desk desk;
  Governor governor = desk.start();
  REQUIRE(governor.change_preferences(setting("gpu", "always")).ok());
  CHECK(governor.verdict().gpu);
  wire::Pause request = pause_for("15m");
  request.gpu = true;
  REQUIRE(governor.pause(request).ok());
  CHECK(governor.verdict().may_train());
  CHECK_FALSE(governor.verdict().gpu);
  REQUIRE(governor.resume({.gpu = true}).ok());
  CHECK(governor.verdict().gpu);
}

TEST_CASE("preferences change all together or not at all, and are there after a restart") {
  Desk desk;
  {
    Governor governor = desk.start();
    wire::SetPreferences request = setting("threads_max", "1");
    request.changes.push_back({"idle_minutes", "none"});
    CHECK(governor.change_preferences(request).error().code == ErrorCode::invalid_argument);
    CHECK(governor.preferences() == wire::Preferences());
    request.changes[1].value = "7";
    request.preset = "balanced";
    REQUIRE(governor.change_preferences(request).ok());
  }
  Governor governor = desk.start();
  CHECK(governor.preferences().limits.threads_max == 1);
  CHECK(governor.preferences().when.idle_minutes == 7);
  CHECK(governor.preferences().limits.threads_in_use_percent == 75);
}

TEST_CASE("what the disk has left is bounded by the cap and by what must stay free") {
  Desk desk;
  Governor governor = desk.start();
  constexpr std::int64_t kGigabyte = 1'000'000'000;
  CHECK(governor.disk_bytes_left() == 20 * kGigabyte);
  policy::Surroundings around;
  around.disk_used_bytes = 3 * kGigabyte;
  governor.see(around);
  CHECK(governor.disk_bytes_left() == 17 * kGigabyte);
  around.disk_free_bytes = 6 * kGigabyte;
  governor.see(around);
  CHECK(governor.disk_bytes_left() == kGigabyte);
}

TEST_CASE("the operator's word on threads goes above the preferences") {
  Desk desk;
  desk.threads = 5;
  Governor governor = desk.start();
  REQUIRE(governor.change_preferences(setting("threads_max", "1")).ok());
  CHECK(governor.verdict().threads == 5);
}

TEST_CASE("traffic adds up over restarts until the month is over") {
  Desk desk;
  wire::DaemonStatus status;
  {
    Governor governor = desk.start();
    REQUIRE(governor.change_preferences(setting("data_max_gb_per_month", "0.001")).ok());
    governor.count({400'000, 100'000, 0});
    governor.count({500'000, 100'000, 50'000});
    governor.save_traffic();
    CHECK(governor.decide().may_train());
  }
  Governor governor = desk.start();
  governor.count({300'000, 0, 0});
  governor.count({350'000, 0, 0});  // 650 000 before, 350 000 now
  CHECK(governor.decide().reason == Reason::data_cap);
  governor.describe(status);
  CHECK(status.rules.month_bytes == 1'000'000);
  CHECK(status.rules.month_bytes_max == 1'000'000);
  CHECK(status.rules.month_bytes_forecast > 1'000'000);
  desk.clock.pass_until(governor.verdict().ends_at.value());
  CHECK(governor.decide().may_train());
}

TEST_CASE("a crash loses little of what was counted, half a percent of the cap") {
  Desk desk;
  {
    Governor governor = desk.start();
    REQUIRE(governor.change_preferences(setting("data_max_gb_per_month", "1")).ok());
    governor.count({1, 0, 0});
    governor.count({5'000'000, 0, 0});
    governor.count({5'100'000, 0, 0});
    governor.count({5'200'000, 0, 0});  // too little to be written down at once
  }
  Governor governor = desk.start();
  wire::DaemonStatus status;
  governor.describe(status);
  CHECK(status.rules.month_bytes == 5'100'000);
  CHECK(status.rules.month_averaging_bytes + status.rules.month_models_bytes + status.rules.month_coordinator_bytes ==
        status.rules.month_bytes);
}

TEST_CASE("near the month's cap data slows down, and beyond it trickles") {
  Desk desk;
  Governor governor = desk.start();
  CHECK(governor.bytes_per_s_below_cap() == 0);
  REQUIRE(governor.change_preferences(setting("data_max_gb_per_month", "1")).ok());
  CHECK(governor.bytes_per_s_below_cap() == 0);  // no line is this fast
  std::int64_t counted = 900'000'000;
  governor.count({counted, 0, 0});
  CHECK(governor.bytes_per_s_below_cap() == doctest::Approx(12.5e6));
  int seconds = 0;
  for (; governor.decide().may_train() && seconds < 60; ++seconds) {
    counted += static_cast<std::int64_t>(2 * governor.bytes_per_s_below_cap());  // both directions
    governor.count({counted, 0, 0});
  }
  CHECK(seconds < 20);
  CHECK(counted < 1'010'000'000);
  CHECK(governor.bytes_per_s_below_cap() <= 1000);
}

TEST_CASE("a paused status has the rules' reason, end and action") {
  Desk desk;
  Governor governor = desk.start();
  REQUIRE(governor.pause(pause_for("")).ok());
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::paused;
  status.reason = "something older";
  governor.describe(status);
  CHECK(status.reason == "paused by you");
  CHECK(status.ends_when == "you resume");
  CHECK(status.rules.code == "paused");
  CHECK(status.rules.action_command == "resume");
  CHECK(status.paused);
}

TEST_CASE("damaged preferences are told with the status") {
  Desk desk;
  std::ofstream(desk.folder / "preferences.json") << "no json";
  const Governor governor = desk.start();
  wire::DaemonStatus status;
  governor.describe(status);
  REQUIRE(status.problems.size() == 1);
  CHECK(status.problems[0].find("preferences.json") != std::string::npos);
}
