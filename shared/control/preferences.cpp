#include "shared/control/preferences.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <variant>

#include "shared/wire/json_writer.h"

namespace starling::wire {
namespace {

constexpr std::size_t kFileBytesMax = 256 * 1024;
constexpr std::size_t kTextMax = 4096;

struct Whole {
  int Preferences::*member;
  int min;
  int max;
};
struct OptionalWhole {
  std::optional<int> Preferences::*member;
  int min;
  int max;
};
struct OptionalNumber {
  std::optional<double> Preferences::*member;
  double min;
  double max;
};
using Mode = UseMode Preferences::*;
using Switch = bool Preferences::*;
using Hours = WeekHours Preferences::*;
using Names = std::vector<std::string> Preferences::*;
using Kind = std::variant<Mode, Switch, Whole, OptionalWhole, OptionalNumber, Hours, Names>;

using P = Preferences;

struct Field {
  PreferenceInfo info;
  Kind kind;
};

const auto kFields = std::to_array<Field>({
    {{"compute", "Train: always, by the rules below, or never"}, &P::compute},
    {{"gpu", "Use the graphics card: always, by the rules, or never"}, &P::gpu},
    {{"network", "Use the network: always, by the rules, or never"}, &P::network},
    {{"while_in_use", "Train while somebody uses the computer"}, &P::while_in_use},
    {{"gpu_while_in_use", "Use the graphics card while somebody uses the computer"}, &P::gpu_while_in_use},
    {{"idle_minutes", "Minutes without input until the computer counts as not in use"},
     Whole{&P::idle_minutes, 1, 240}},
    {{"on_battery", "Train on battery"}, &P::on_battery},
    {{"battery_min_percent", "On battery, only above this charge"}, Whole{&P::battery_min_percent, 0, 100}},
    {{"on_metered", "Use a network that is paid by volume"}, &P::on_metered},
    {{"during_fullscreen", "Train while a program fills the screen"}, &P::during_fullscreen},
    {{"exclusive_programs", "Programs beside which nothing is trained, by name, with commas between"},
     &P::exclusive_programs},
    {{"compute_schedule_on", "Train only in the hours of compute_schedule"}, &P::compute_schedule_on},
    {{"compute_schedule", "Hours of the week, such as 'mon-fri 18-24, sat-sun 0-24'"}, &P::compute_schedule},
    {{"network_schedule_on", "Use the network only in the hours of network_schedule"}, &P::network_schedule_on},
    {{"network_schedule", "Hours of the week, such as 'daily 22-6'"}, &P::network_schedule},
    {{"threads_in_use_percent", "Share of the processor while somebody uses the computer"},
     Whole{&P::threads_in_use_percent, 1, 100}},
    {{"threads_idle_percent", "Share of the processor otherwise"}, Whole{&P::threads_idle_percent, 1, 100}},
    {{"threads_max", "Never more processor threads than this"}, OptionalWhole{&P::threads_max, 1, 64}},
    {{"memory_in_use_percent", "Share of the memory while somebody uses the computer"},
     Whole{&P::memory_in_use_percent, 5, 95}},
    {{"memory_idle_percent", "Share of the memory otherwise"}, Whole{&P::memory_idle_percent, 5, 95}},
    {{"gpu_memory_percent", "Share of the memory of the graphics card, where it is used"},
     Whole{&P::gpu_memory_percent, 5, 95}},
    {{"temperature_max_c", "Pause when the computer is hotter than this, in degrees Celsius"},
     OptionalWhole{&P::temperature_max_c, 40, 110}},
    {{"disk_max_gb", "Disk space that models and data may take"}, Whole{&P::disk_max_gb, 1, 100'000}},
    {{"disk_free_min_gb", "Disk space that is always left free"}, Whole{&P::disk_free_min_gb, 0, 100'000}},
    {{"upload_max_mbit_s", "Send at most so many megabits a second, everything together"},
     OptionalNumber{&P::upload_max_mbit_s, 0.5, 1e5}},
    {{"download_max_mbit_s", "Receive at most so many megabits a second, everything together"},
     OptionalNumber{&P::download_max_mbit_s, 0.5, 1e5}},
    {{"data_max_gb_per_month", "Sent and received in a month, at most"},
     OptionalNumber{&P::data_max_gb_per_month, 1e-6, 1e6}},
    {{"data_month_first_day", "Day on which a month of data begins"}, Whole{&P::data_month_first_day, 1, 28}},
    {{"port_mapping", "Ask the router to let calls of other volunteers through, by NAT-PMP or UPnP"}, &P::port_mapping},
    {{"update_check", "Look for newer versions of Starling, once a day"}, &P::update_check},
    {{"update_install", "Install newer versions between two rounds, unless a package of the system does that"},
     &P::update_install},
    {{"relay_max_mbit_s", "Pass on what computers behind routers say to each other, at most so many megabits a second"},
     OptionalNumber{&P::relay_max_mbit_s, 0.1, 1e5}},
});

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

constexpr std::array<UseMode, 3> kModes = {UseMode::always, UseMode::rules, UseMode::never};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Result<UseMode> parse_mode(std::string_view text) {
  for (const UseMode mode : kModes) {
    if (to_string(mode) == text) return mode;
  }
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
                        [&](Mode member) { return std::string(to_string(p.*member)); },
                        [&](Switch member) { return std::string(p.*member ? "yes" : "no"); },
                        [&](const Whole& field) { return fmt::format("{}", p.*field.member); },
                        [&](const OptionalWhole& field) { return optional_text(p.*field.member); },
                        [&](const OptionalNumber& field) { return optional_text(p.*field.member); },
                        [&](Hours member) { return to_text(p.*member); },
                        [&](Names member) { return joined(p.*member); },
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
          [&](Mode member) { return assign(p.*member, parse_mode(text)); },
          [&](Switch member) { return assign(p.*member, parse_switch(text)); },
          [&](const Whole& field) { return assign(p.*field.member, parse_number<int>(text, field.min, field.max)); },
          [&](const OptionalWhole& field) { return set_optional(p.*field.member, text, field.min, field.max); },
          [&](const OptionalNumber& field) { return set_optional(p.*field.member, text, field.min, field.max); },
          [&](Hours member) { return assign(p.*member, parse_week_hours(text)); },
          [&](Names member) { return assign(p.*member, parse_names(text)); },
      },
      kind);
}

void write(JsonWriter& out, std::string_view name, const Preferences& p, const Kind& kind) {
  const auto optional = [&](const auto& value) {
    if (value.has_value()) {
      out.number(name, static_cast<double>(*value));
    } else {
      out.raw(name, "null");
    }
  };
  std::visit(Overloaded{
                 [&](Switch member) { out.boolean(name, p.*member); },
                 [&](const Whole& field) { out.integer(name, p.*field.member); },
                 [&](const OptionalWhole& field) { optional(p.*field.member); },
                 [&](const OptionalNumber& field) { optional(p.*field.member); },
                 [&](Names member) {
                   out.open(name, '[');
                   for (const std::string& program : p.*member) out.text("", program);
                   out.close(']');
                 },
                 [&](const auto&) { out.text(name, text_of(p, kind)); },
             },
             kind);
}

void read_names(JsonReader& in, std::string_view name, std::vector<std::string>& out) {
  out.clear();
  in.list(name, kExclusiveProgramsMax, [&](JsonReader& item) {
    item.text("", out.emplace_back(), kProgramNameBytesMax);
    if (!is_program_name(out.back())) item.refuse("", "must be a program's name");
  });
}

void read(JsonReader& in, std::string_view name, Preferences& p, const Kind& kind) {
  const auto words = [&] {
    std::string text;
    in.text(name, text, kTextMax);
    if (!in.status().ok()) return;
    if (const Status set = set_text(p, kind, text); !set.ok()) in.refuse(name, set.error().message);
  };
  std::visit(
      Overloaded{
          [&](Switch member) { in.boolean(name, p.*member); },
          [&](const Whole& field) { read_int(in, name, p.*field.member, field.min, field.max); },
          [&](const OptionalWhole& field) { read_int(in, name, (p.*field.member).emplace(), field.min, field.max); },
          [&](const OptionalNumber& field) { in.number(name, (p.*field.member).emplace(), field.min, field.max); },
          [&](Names member) { read_names(in, name, p.*member); },
          [&](const auto&) { words(); },
      },
      kind);
}

Result<const Kind*> kind_of(std::string_view name) {
  for (const Field& field : kFields) {
    if (field.info.name == name) return &field.kind;
  }
  return Error{ErrorCode::not_found,
               fmt::format("there is no preference '{}'; `starling prefs get` lists them all", name)};
}

}  // namespace

std::string_view to_string(UseMode mode) {
  switch (mode) {
    case UseMode::always:
      return "always";
    case UseMode::rules:
      return "rules";
    case UseMode::never:
      return "never";
  }
  return "unknown";
}

std::string encode(const Preferences& preferences) {
  JsonWriter out;
  out.open("", '{');
  for (const Field& field : kFields) write(out, field.info.name, preferences, field.kind);
  out.close('}');
  return std::move(out.str());
}

void read_preferences(JsonReader& in, Preferences& out) {
  for (const Field& field : kFields) {
    if (in.present(field.info.name)) read(in, field.info.name, out, field.kind);
  }
}

Result<Preferences> decode_preferences(std::string_view json) {
  return decode_json<Preferences>(json, "preferences", kFileBytesMax, read_preferences);
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
