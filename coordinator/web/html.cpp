#include "coordinator/web/html.h"

#include <fmt/core.h>

#include <cmath>

#include "shared/base/plain_text.h"
#include "shared/crypto/digest.h"
#include "shared/wire/base64.h"

namespace starling::web {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : plain_lines(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number < 0 ? -number : number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return number < 0 ? "-" + digits : digits;
}

std::string short_number(double number) {
  if (!std::isfinite(number)) return "-";
  const double size = std::fabs(number);
  if (size >= 999.5) return grouped(std::llround(number));
  if (size >= 99.95) return fmt::format("{:.0f}", number);
  if (size >= 9.995) return fmt::format("{:.1f}", number);
  if (size >= 0.1) return fmt::format("{:.2f}", number);
  return number == 0 ? "0" : fmt::format("{:.2g}", number);
}

std::string ago(WallTime then, WallTime now) {
  const std::int64_t ms = now.unix_ms - then.unix_ms;
  if (ms < kMinuteMs) return "just now";
  if (ms < kHourMs) return fmt::format("{} min ago", ms / kMinuteMs);
  if (ms < 2 * kDayMs) return fmt::format("{} h ago", ms / kHourMs);
  return fmt::format("{} days ago", ms / kDayMs);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{} days", grouped(std::llround(seconds / 86400)));
}

std::string plural(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", grouped(count), thing, count == 1 ? "" : "s");
}

std::string size_text(std::int64_t bytes) {
  if (bytes < 10'000) return plural(bytes, "byte");
  return bytes < 10'000'000 ? fmt::format("{} kB", grouped(bytes / 1000))
                            : fmt::format("{} MB", grouped(bytes / 1'000'000));
}

void add_cell(std::string& html, std::string_view term, std::string_view value, std::string_view note) {
  html += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", term, value, note);
}

std::string csp_hash(std::string_view text) {
  return fmt::format("'sha256-{}'", wire::base64(crypto::sha256(text).bytes));
}

}  // namespace starling::web
