// Ten thousand random volunteers: preferences, sensors and buttons at random, through weeks with changes of time.
#include <doctest/doctest.h>

#include <random>

#include "client/policy/policy.h"
#include "tests/client/policy/zones.h"

using namespace starling;
using namespace starling::policy;
using wire::PauseKind;
using wire::Preferences;
using wire::UseMode;

namespace {

constexpr int kVolunteers = 10'000;
constexpr int kEvents = 24;
constexpr std::int64_t kGigabyte = 1'000'000'000;
constexpr std::int64_t kHourMs = 3'600'000;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <typename T>
  std::optional<T> maybe(T value) {
    return one_in(4) ? std::nullopt : std::optional<T>(std::move(value));
  }
  wire::WeekHours hours() {
    wire::WeekHours out;
    for (int i = 0; i < 3; ++i) {
      const int first = below(wire::kWeekHours);
      for (int hour = first; hour < first + below(30); ++hour) out.set(static_cast<std::size_t>(hour) % out.size());
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
};

struct Volunteer {
  Preferences preferences;
  Surroundings around;
  wire::PauseRequest pause_request;
  WallTime now;
  std::int64_t month_bytes = 0;
  Reason before = Reason::none;

  [[nodiscard]] Verdict verdict(const UtcOffset& offset) const {
    return decide({preferences, around, pause_request, now, offset, month_bytes, before});
  }
};

UseMode any_mode(Chance& chance) {
  return chance.one_in(5) ? UseMode::never : chance.one_in(3) ? UseMode::always : UseMode::rules;
}

Preferences any_preferences(Chance& chance) {
  Preferences p;
  p.compute = any_mode(chance);
  p.gpu = any_mode(chance);
  p.network = any_mode(chance);
  p.when.while_in_use = chance.one_in(2);
  p.when.gpu_while_in_use = chance.one_in(2);
  p.when.idle_minutes = 1 + chance.below(20);
  p.when.on_battery = chance.one_in(2);
  p.when.battery_min_percent = chance.below(101);
  p.when.on_metered = chance.one_in(2);
  p.when.during_fullscreen = chance.one_in(2);
  if (chance.one_in(3)) p.when.exclusive_programs = {"game", "film"};
  p.hours.compute_schedule_on = chance.one_in(2);
  p.hours.compute_schedule = chance.hours();
  p.hours.network_schedule_on = chance.one_in(3);
  p.hours.network_schedule = chance.hours();
  p.limits.threads_in_use_percent = 1 + chance.below(100);
  p.limits.threads_idle_percent = 1 + chance.below(100);
  p.limits.threads_max = chance.maybe(1 + chance.below(8));
  p.limits.temperature_max_c = chance.maybe(60 + chance.below(30));
  p.traffic.data_max_gb_per_month = chance.maybe(1.0 + chance.below(9));
  p.traffic.data_month_first_day = 1 + chance.below(28);
  return p;
}

Surroundings any_surroundings(Chance& chance) {
  Surroundings around;
  around.user_idle = chance.maybe<Duration>(std::chrono::seconds(chance.below(2400)));
  around.on_battery = chance.maybe(chance.one_in(2));
  around.battery_percent = chance.maybe(chance.below(101));
  around.metered = chance.maybe(chance.one_in(3));
  around.fullscreen = chance.maybe(chance.one_in(3));
  around.programs = chance.maybe(std::vector<std::string>{chance.one_in(3) ? "GAME" : "editor"});
  around.temperature_c = chance.maybe<double>(40 + chance.below(50));
  around.disk_free_bytes = chance.maybe(chance.below(60) * kGigabyte);
  around.disk_used_bytes = chance.maybe(chance.below(22) * kGigabyte);
  around.processor_threads = 1 + chance.below(32);
  return around;
}

// One thing happens, or time passes.
void happen(Volunteer& v, Chance& chance) {
  switch (chance.below(6)) {
    case 0:
      v.preferences = any_preferences(chance);
      break;
    case 1:
      v.pause_request.kind = static_cast<PauseKind>(chance.below(3));
      v.pause_request.until = {chance.one_in(2) ? 0 : v.now.unix_ms + chance.below(48) * kHourMs};
      break;
    case 2:
      v.month_bytes = chance.below(12) * kGigabyte;
      break;
    case 3:
      v.around = any_surroundings(chance);
      break;
    default:
      v.now.unix_ms += chance.below(12 * static_cast<int>(kHourMs));
  }
}

// All obstacles that the volunteer would expect, computed again in another way.
bool anything_in_the_way(const Volunteer& v, const UtcOffset& offset) {
  const Preferences& p = v.preferences;
  const Surroundings& a = v.around;
  const auto hour = static_cast<std::size_t>(hour_of_week(v.now, offset));
  bool no =
      v.pause_request.kind == PauseKind::now && (v.pause_request.until.unix_ms == 0 || v.now < v.pause_request.until);
  no |= p.compute == UseMode::never || p.network == UseMode::never;
  no |= a.disk_free_bytes.value_or(INT64_MAX) < 5 * kGigabyte || a.disk_used_bytes.value_or(0) > 20 * kGigabyte;
  if (p.limits.temperature_max_c && a.temperature_c) {
    no |= *a.temperature_c > *p.limits.temperature_max_c - (v.before == Reason::too_hot ? 5 : 0);
  }
  no |= p.traffic.data_max_gb_per_month && static_cast<double>(v.month_bytes) >= *p.traffic.data_max_gb_per_month * 1e9;
  if (p.compute == UseMode::rules) {
    no |= !p.when.exclusive_programs.empty() && a.programs && a.programs->front() == "GAME";
    no |= a.fullscreen == true && !p.when.during_fullscreen;
    no |= a.on_battery == true && (!p.when.on_battery || a.battery_percent.value_or(100) < p.when.battery_min_percent);
    no |= p.hours.compute_schedule_on && !p.hours.compute_schedule[hour];
    no |= !p.when.while_in_use && a.user_idle.value_or(Duration(0)) < std::chrono::minutes(p.when.idle_minutes);
  }
  if (p.network == UseMode::rules) {
    no |= a.metered == true && !p.when.on_metered;
    no |= p.hours.network_schedule_on && !p.hours.network_schedule[hour];
  }
  return no;
}

void check_words(const Verdict& verdict) {
  const bool trains = verdict.may_train();
  REQUIRE(verdict.text.empty() == trains);
  REQUIRE(verdict.ends_when.empty() == trains);
  REQUIRE(verdict.action.label.empty() == trains);
  REQUIRE(verdict.gpu == verdict.gpu_text.empty());
}

// The reason lasts until the time that it announced, unless a stronger one comes up, and not longer.
void check_end(Volunteer v, const Verdict& verdict, const UtcOffset& offset) {
  if (!verdict.ends_at) return;
  REQUIRE(*verdict.ends_at > v.now);
  const int first_day = v.preferences.traffic.data_month_first_day;
  v.now = {verdict.ends_at->unix_ms - 1};
  const Reason last_reason = v.verdict(offset).reason;
  REQUIRE(last_reason != Reason::none);
  REQUIRE(last_reason <= verdict.reason);
  const WallTime last_month = month_around(v.now, first_day, offset).begin;
  v.now = *verdict.ends_at;
  if (month_around(v.now, first_day, offset).begin != last_month) v.month_bytes = 0;
  REQUIRE(v.verdict(offset).reason != verdict.reason);
}

void check_limits(const Volunteer& v, const Verdict& verdict) {
  REQUIRE(verdict.threads >= 1);
  REQUIRE(verdict.threads <= std::max(1, v.around.processor_threads));
  if (v.preferences.limits.threads_max) REQUIRE(verdict.threads <= *v.preferences.limits.threads_max);
  if (verdict.may_train()) REQUIRE(verdict.network == NetworkUse::all);
  REQUIRE((verdict.network == NetworkUse::none) == (v.preferences.network == UseMode::never));
}

void live(std::uint64_t seed, const UtcOffset& offset) {
  CAPTURE(seed);
  Chance chance(seed);
  Volunteer v;
  v.preferences = any_preferences(chance);
  v.around = any_surroundings(chance);
  // Half of the volunteers live through weeks with a change of time.
  v.now = chance.one_in(2) ? utc(2026, 3, 25) : chance.one_in(2) ? utc(2026, 10, 21) : utc(2026, 1, 1);
  for (int event = 0; event < kEvents; ++event) {
    happen(v, chance);
    const Verdict verdict = v.verdict(offset);
    REQUIRE(verdict.may_train() != anything_in_the_way(v, offset));
    check_words(verdict);
    check_limits(v, verdict);
    check_end(v, verdict, offset);
    v.before = verdict.reason;
  }
}

}  // namespace

TEST_CASE("whatever happens, there is one reason exactly while something is in the way, and it ends when it says") {
  for (std::uint64_t seed = 1; seed <= kVolunteers; ++seed) {
    live(seed, seed % 5 == 0 ? lord_howe() : central_europe());
  }
}
