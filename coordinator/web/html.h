// Small pieces of HTML and of text for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/calendar.h"
#include "shared/base/clock.h"

namespace starling::web {

// Text as element content or attribute value: nothing in it can end either, and it is plain (plain_text.h).
std::string escape(std::string_view text);
// 1234567 as "1,234,567".
std::string grouped(std::int64_t number);
// Three significant digits at most, grouped: "0.0123", "12.3", "1,234".
std::string short_number(double number);
// "just now", "5 min ago", "3 h ago", "12 days ago".
std::string ago(WallTime then, WallTime now);
// "40 s", "12 min", "5 h", "3 days": one unit, rounded.
std::string duration_text(double seconds);
// "1 volunteer", "1,234 volunteers".
std::string plural(std::int64_t count, std::string_view thing);
// "512 bytes", "250 kB", "4,200 MB".
std::string size_text(std::int64_t bytes);
// Adds one figure to a list (<dl>). All three texts are HTML already.
void add_cell(std::string& html, std::string_view term, std::string_view value, std::string_view note);
// SHA-256 as a Content-Security-Policy names it: 'sha256-…'.
std::string csp_hash(std::string_view text);

}  // namespace starling::web
