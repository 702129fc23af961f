#include "shared/control/preferences.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>
#include <utility>
#include <variant>

#include "shared/base/overloaded.h"
#include "shared/control/control_fields.h"

namespace starling::wire {
namespace {

constexpr std::size_t kFileBytesMax = 256 * 1024;
constexpr std::size_t kTextMax = 4096;

using P = Preferences;

// A place in the preferences, whatever group it stands in.
template <typename T>
struct Member {
  T& (*changed_in)(Preferences&);
  const T& (*seen_in)(const Preferences&);
  T& of(Preferences& p) const { return changed_in(p); }
  const T& of(const Preferences& p) const { return seen_in(p); }
};

// The member that `path`, pointers to a group and to a member of it, leads to.
template <auto... path>
constexpr auto at() {
  using T = std::remove_reference_t<decltype((std::declval<Preferences&>().*....*path))>;
  return Member<T>{[](Preferences& p) -> T& { return (p.*....*path); },
                   [](const Preferences& p) -> const T& { return (p.*....*path); }};
}

struct Number {
  Member<int> member;
  int min;
  int max;
  PreferenceUnit unit = PreferenceUnit::none;
};
struct OptionalNumber {
  Member<std::optional<int>> member;
  int min;
  int max;
  PreferenceUnit unit = PreferenceUnit::none;
};
struct OptionalReal {
  Member<std::optional<double>> member;
  double min;
  double max;
  PreferenceUnit unit = PreferenceUnit::none;
};
using Mode = Member<UseMode>;
using Switch = Member<bool>;
using Hours = Member<WeekHours>;
using Names = Member<std::vector<std::string>>;
using Kind = std::variant<Mode, Switch, Number, OptionalNumber, OptionalReal, Hours, Names>;

using Unit = PreferenceUnit;

struct Field {
  PreferenceInfo info;
  Kind kind;
};

const auto kFields = std::to_array<Field>({
    {{"compute", "Train: always, by the rules below, or never"}, at<&P::compute>()},
    {{"gpu", "Use the graphics card: always, by the rules, or never"}, at<&P::gpu>()},
    {{"network", "Use the network: always, by the rules, or never"}, at<&P::network>()},
    {{"while_in_use", "Train while somebody uses the computer"}, at<&P::when, &WhenRules::while_in_use>()},
    {{"gpu_while_in_use", "Use the graphics card while somebody uses the computer"},
     at<&P::when, &WhenRules::gpu_while_in_use>()},
    {{"idle_minutes", "Minutes without input until the computer counts as not in use"},
     Number{at<&P::when, &WhenRules::idle_minutes>(), 1, 240, Unit::minutes}},
    {{"on_battery", "Train on battery"}, at<&P::when, &WhenRules::on_battery>()},
    {{"battery_min_percent", "On battery, only above this charge"},
     Number{at<&P::when, &WhenRules::battery_min_percent>(), 0, 100, Unit::percent}},
    {{"on_metered", "Use a network that is paid by volume"}, at<&P::when, &WhenRules::on_metered>()},
    {{"during_fullscreen", "Train while a program fills the screen"}, at<&P::when, &WhenRules::during_fullscreen>()},
    {{"exclusive_programs", "Programs beside which nothing is trained, by name, with commas between"},
     at<&P::when, &WhenRules::exclusive_programs>()},
    {{"compute_schedule_on", "Train only in the hours of compute_schedule"},
     at<&P::hours, &ScheduledHours::compute_schedule_on>()},
    {{"compute_schedule", "Hours of the week, such as 'mon-fri 18-24, sat-sun 0-24'"},
     at<&P::hours, &ScheduledHours::compute_schedule>()},
    {{"network_schedule_on", "Use the network only in the hours of network_schedule"},
     at<&P::hours, &ScheduledHours::network_schedule_on>()},
    {{"network_schedule", "Hours of the week, such as 'daily 22-6'"},
     at<&P::hours, &ScheduledHours::network_schedule>()},
    {{"threads_in_use_percent", "Share of the processor while somebody uses the computer"},
     Number{at<&P::limits, &ComputeLimits::threads_in_use_percent>(), 1, 100, Unit::percent}},
    {{"threads_idle_percent", "Share of the processor otherwise"},
     Number{at<&P::limits, &ComputeLimits::threads_idle_percent>(), 1, 100, Unit::percent}},
    {{"threads_max", "Never more processor threads than this"},
     OptionalNumber{at<&P::limits, &ComputeLimits::threads_max>(), 1, 64}},
    {{"memory_in_use_percent", "Share of the memory while somebody uses the computer"},
     Number{at<&P::limits, &ComputeLimits::memory_in_use_percent>(), 5, 95, Unit::percent}},
    {{"memory_idle_percent", "Share of the memory otherwise"},
     Number{at<&P::limits, &ComputeLimits::memory_idle_percent>(), 5, 95, Unit::percent}},
    {{"cells_max_gb", "Of that memory, at most this for parts of models that no computer holds whole"},
     OptionalReal{at<&P::limits, &ComputeLimits::cells_max_gb>(), 0, 1e5, Unit::gigabytes}},
    {{"gpu_memory_percent", "Share of the memory of the graphics card, where it is used"},
     Number{at<&P::limits, &ComputeLimits::gpu_memory_percent>(), 5, 95, Unit::percent}},
    {{"temperature_max_c", "Pause when the computer is hotter than this, in degrees Celsius"},
     OptionalNumber{at<&P::limits, &ComputeLimits::temperature_max_c>(), 40, 110, Unit::degrees_celsius}},
    {{"disk_max_gb", "Disk space that models and data may take"},
     Number{at<&P::storage, &StorageLimits::disk_max_gb>(), 1, 100'000, Unit::gigabytes}},
    {{"disk_free_min_gb", "Disk space that is always left free"},
     Number{at<&P::storage, &StorageLimits::disk_free_min_gb>(), 0, 100'000, Unit::gigabytes}},
    {{"upload_max_mbit_s", "Send at most so many megabits a second, everything together"},
     OptionalReal{at<&P::traffic, &TrafficRules::upload_max_mbit_s>(), 0.5, 1e5, Unit::megabits_per_second}},
    {{"download_max_mbit_s", "Receive at most so many megabits a second, everything together"},
     OptionalReal{at<&P::traffic, &TrafficRules::download_max_mbit_s>(), 0.5, 1e5, Unit::megabits_per_second}},
    {{"data_max_gb_per_month", "Sent and received in a month, at most"},
     OptionalReal{at<&P::traffic, &TrafficRules::data_max_gb_per_month>(), 1e-6, 1e6, Unit::gigabytes}},
    {{"data_month_first_day", "Day on which a month of data begins"},
     Number{at<&P::traffic, &TrafficRules::data_month_first_day>(), 1, 28}},
    {{"port_mapping", "Ask the router to let calls of other volunteers through, by NAT-PMP or UPnP"},
     at<&P::traffic, &TrafficRules::port_mapping>()},
    {{"update_check", "Look for newer versions of Starling, once a day"},
     at<&P::updates, &UpdateRules::update_check>()},
    {{"update_install", "Install newer versions between two rounds, unless a package of the system does that"},
     at<&P::updates, &UpdateRules::update_install>()},
    {{"relay_max_mbit_s", "Pass on what computers behind routers say to each other, at most so many megabits a second"},
     OptionalReal{at<&P::traffic, &TrafficRules::relay_max_mbit_s>(), 0.1, 1e5, Unit::megabits_per_second}},
});

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Result<UseMode> parse_mode(std::string_view text) {
  if (const auto mode = from_word<UseMode>(text)) return *mode;
  return Error{ErrorCode::invalid_argument, "must be always, rules or never"};
}

Result<bool> parse_switch(std::string_view text) {
  if (text == "yes" || text == "true" || text == "on") return true;
  if (text == "no" || text == "false" || text == "off") return false;
  return Error{ErrorCode::invalid_argument, "must be yes or no"};
}

template <typename T>
Result<T> parse_number(std::string_view text, T min, T max, std::string_view alternative = "") {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size() && value >= min && value <= max) return value;
  return Error{ErrorCode::invalid_argument, fmt::format("must be a number from {} to {}{}", min, max, alternative)};
}

constexpr std::string_view kOrNone = ", or none";

template <typename T>
Status set_optional(std::optional<T>& out, std::string_view text, T min, T max) {
  if (text == "none") {
    out.reset();
    return {};
  }
  STARLING_ASSIGN(out, parse_number<T>(text, min, max, kOrNone));
  return {};
}

bool is_program_name(std::string_view name) {
  const auto printable = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != ','; };
  return !name.empty() && name.size() <= kProgramNameBytesMax && std::all_of(name.begin(), name.end(), printable);
}

Result<std::vector<std::string>> parse_names(std::string_view text) {
  std::vector<std::string> names;
  if (text == "none" || text.empty()) return names;
  while (true) {
    const std::size_t comma = text.find(',');
    names.emplace_back(trimmed(text.substr(0, comma)));
    if (!is_program_name(names.back()) || names.size() > kExclusiveProgramsMax) {
      return Error{
          ErrorCode::invalid_argument,
          fmt::format("must be at most {} names of programs with commas between, or none", kExclusiveProgramsMax)};
    }
    if (comma == std::string_view::npos) return names;
    text.remove_prefix(comma + 1);
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

template <typename T>
std::string optional_text(const std::optional<T>& value) {
  return value.has_value() ? fmt::format("{}", *value) : "none";
}

std::string text_of(const Preferences& p, const Kind& kind) {
  return std::visit(Overloaded{
                        [&](Mode member) { return std::string(to_string(member.of(p))); },
                        [&](Switch member) { return std::string(member.of(p) ? "yes" : "no"); },
                        [&](const Number& field) { return fmt::format("{}", field.member.of(p)); },
                        [&](const OptionalNumber& field) { return optional_text(field.member.of(p)); },
                        [&](const OptionalReal& field) { return optional_text(field.member.of(p)); },
                        [&](Hours member) { return to_text(member.of(p)); },
                        [&](Names member) { return joined(member.of(p)); },
                    },
                    kind);
}

Status set_text(Preferences& p, const Kind& kind, std::string_view text) {
  const auto assign = [](auto& out, auto parsed) -> Status {
    if (!parsed.ok()) return parsed.error();
    out = std::move(*parsed);
    return {};
  };
  return std::visit(
      Overloaded{
          [&](Mode member) { return assign(member.of(p), parse_mode(text)); },
          [&](Switch member) { return assign(member.of(p), parse_switch(text)); },
          [&](const Number& field) {
            return assign(field.member.of(p), parse_number<int>(text, field.min, field.max));
          },
          [&](const OptionalNumber& field) { return set_optional(field.member.of(p), text, field.min, field.max); },
          [&](const OptionalReal& field) { return set_optional(field.member.of(p), text, field.min, field.max); },
          [&](Hours member) { return assign(member.of(p), parse_week_hours(text)); },
          [&](Names member) { return assign(member.of(p), parse_names(text)); },
      },
      kind);
}

// Visits a value that travels as text.
template <typename Visitor, typename Member>
void visit_text(Visitor& visit, std::string_view name, Seen<Visitor, Preferences>& p, Member member) {
  std::string text = text_of(p, member);
  visit(name, text, Text{kTextMax}, kLater);
  if constexpr (Visitor::kChanges) {
    if (const Status set = set_text(p, member, text); !set.ok()) visit.refuse(name, set.error().message);
  }
}

template <typename Visitor>
void visit_names(Visitor& visit, std::string_view name, Seen<Visitor, std::vector<std::string>>& names) {
  visit(name, names, Items{kExclusiveProgramsMax}, Text{kProgramNameBytesMax}, kLater);
  if constexpr (Visitor::kChanges) {
    if (!std::all_of(names.begin(), names.end(), is_program_name)) visit.refuse(name, "must be names of programs");
  }
}

Result<const Kind*> kind_of(std::string_view name) {
  for (const Field& field : kFields) {
    if (field.info.name == name) return &field.kind;
  }
  return Error{ErrorCode::not_found,
               fmt::format("there is no preference '{}'; `starling prefs get` lists them all", name)};
}

}  // namespace

std::string_view to_string(UseMode mode) { return word_of(mode); }

// A file or request may leave out any of them.
template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Preferences>& p) {
  const auto number = [&](std::string_view name, auto& member, const auto& field) {
    visit(name, member, Whole{field.min, field.max}, kLater, kNullIfUnset);
  };
  for (const Field& field : kFields) {
    const std::string_view name = field.info.name;
    std::visit(Overloaded{
                   [&](Mode member) { visit(name, member.of(p), kLater); },
                   [&](Switch member) { visit(name, member.of(p), kLater); },
                   [&](const Number& kind) { number(name, kind.member.of(p), kind); },
                   [&](const OptionalNumber& kind) { number(name, kind.member.of(p), kind); },
                   [&](const OptionalReal& kind) {
                     visit(name, kind.member.of(p), Real{kind.min, kind.max}, kNullIfUnset);
                   },
                   [&](Hours member) { visit_text(visit, name, p, member); },
                   [&](Names member) { visit_names(visit, name, member.of(p)); },
               },
               field.kind);
  }
}
template void each_field(FieldWriter& visit, const Preferences& p);
template void each_field(FieldReader& visit, Preferences& p);

std::string encode(const Preferences& preferences) { return encode_fields(preferences); }

Result<Preferences> decode_preferences(std::string_view json) {
  return decode_fields<Preferences>(json, "preferences", kFileBytesMax);
}

std::optional<PreferenceRange> preference_range(std::string_view name) {
  const auto kind = kind_of(name);
  if (!kind.ok()) return std::nullopt;
  const auto range = [](const auto& field) -> std::optional<PreferenceRange> {
    return PreferenceRange{static_cast<double>(field.min), static_cast<double>(field.max), field.unit};
  };
  return std::visit(Overloaded{
                        [&](const Number& field) { return range(field); },
                        [&](const OptionalNumber& field) { return range(field); },
                        [&](const OptionalReal& field) { return range(field); },
                        [](const auto&) { return std::optional<PreferenceRange>(); },
                    },
                    **kind);
}

std::vector<PreferenceInfo> preference_infos() {
  std::vector<PreferenceInfo> infos;
  for (const Field& field : kFields) infos.push_back(field.info);
  return infos;
}

Result<std::string> preference_text(const Preferences& preferences, std::string_view name) {
  STARLING_ASSIGN(const Kind* const kind, kind_of(name));
  return text_of(preferences, *kind);
}

Status set_preference(Preferences& preferences, std::string_view name, std::string_view value) {
  STARLING_ASSIGN(const Kind* const kind, kind_of(name));
  const Status set = set_text(preferences, *kind, trimmed(value));
  if (set.ok()) return {};
  return Error{set.error().code, fmt::format("set {} to '{}': {}", name, value, set.error().message)};
}

}  // namespace starling::wire
