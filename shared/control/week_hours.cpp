#include "shared/control/week_hours.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

namespace starling::wire {
namespace {

constexpr int kDays = 7;
constexpr std::array<std::string_view, kDays> kDayNames = {"monday", "tuesday",  "wednesday", "thursday",
                                                           "friday", "saturday", "sunday"};
constexpr std::size_t kShortName = 3;

using DayHours = std::bitset<kDayHours>;

DayHours day_of(const WeekHours& hours, int day) {
  DayHours out;
  for (int hour = 0; hour < kDayHours; ++hour) out[hour] = hours[day * kDayHours + hour];
  return out;
}

// "8-12" for every run of allowed hours.
std::vector<std::string> windows_of(const DayHours& hours) {
  std::vector<std::string> windows;
  for (int hour = 0; hour < kDayHours; ++hour) {
    if (!hours[hour]) continue;
    const int begin = hour;
    while (hour < kDayHours && hours[hour]) ++hour;
    windows.push_back(fmt::format("{}-{}", begin, hour));
  }
  return windows;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<int> number_in(std::string_view text, int max) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 0 || value > max) return std::nullopt;
  return value;
}

std::optional<int> day_named(std::string_view name) {
  for (int day = 0; day < kDays; ++day) {
    if (name == kDayNames[day] || name == kDayNames[day].substr(0, kShortName)) return day;
  }
  return std::nullopt;
}

struct Range {
  int first = 0;
  int last = 0;
};

std::optional<Range> days_in(std::string_view text) {
  if (text == "daily") return Range{0, kDays - 1};
  const std::size_t dash = text.find('-');
  const auto first = day_named(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : day_named(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return Range{*first, *last};
}

std::optional<Range> hours_in(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number_in(text.substr(0, dash), kDayHours - 1);
  const auto last = number_in(text.substr(dash + 1), kDayHours);
  if (!first || !last || *first == *last) return std::nullopt;
  return Range{*first, *last};
}

// Adds "mon-fri 18-24": every one of the days, each from the first hour to the last, past midnight if need be.
bool add_rule(WeekHours& hours, std::string_view rule) {
  const std::size_t space = rule.find(' ');
  if (space == std::string_view::npos) return false;
  const auto days = days_in(rule.substr(0, space));
  const auto window = hours_in(trimmed(rule.substr(space)));
  if (!days || !window) return false;
  const int length =
      window->last > window->first ? window->last - window->first : window->last + kDayHours - window->first;
  for (int day = days->first;; day = (day + 1) % kDays) {
    for (int i = 0; i < length; ++i) hours.set((day * kDayHours + window->first + i) % kWeekHours);
    if (day == days->last) return true;
  }
}

}  // namespace

std::string to_text(const WeekHours& hours) {
  if (hours.all()) return "always";
  if (hours.none()) return "never";
  std::string text;
  for (int day = 0; day < kDays;) {
    const DayHours today = day_of(hours, day);
    const int first = day;
    while (day < kDays && day_of(hours, day) == today) ++day;
    std::string days(kDayNames[first].substr(0, kShortName));
    if (day - first == kDays) {
      days = "daily";
    } else if (day - first > 1) {
      days += fmt::format("-{}", kDayNames[day - 1].substr(0, kShortName));
    }
    for (const std::string& window : windows_of(today)) {
      if (!text.empty()) text += ", ";
      text += fmt::format("{} {}", days, window);
    }
  }
  return text;
}

Result<WeekHours> parse_week_hours(std::string_view text) {
  std::string lower;
  for (const char c : trimmed(text)) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "always") return WeekHours().set();
  if (lower == "never") return WeekHours();
  WeekHours hours;
  for (std::string_view rest = lower;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view rule = trimmed(rest.substr(0, comma));
    if (!add_rule(hours, rule)) {
      return Error{ErrorCode::invalid_argument,
                   fmt::format("'{}' is no part of a week: write days and hours, such as 'mon-fri 18-24, sat-sun 0-24' "
                               "or 'daily 22-6', or 'always', or 'never'",
                               rule)};
    }
    if (comma == std::string_view::npos) return hours;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace starling::wire
