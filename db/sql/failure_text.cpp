#include "db/sql/failure_text.h"

#include <fmt/core.h>

namespace starling::db {
namespace {

constexpr std::size_t kSqlShownMax = 120;

std::string one_line(std::string_view sql) {
  std::string line;
  for (const char c : sql.substr(0, kSqlShownMax)) {
    const bool blank = c == '\n' || c == '\t' || c == ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return sql.size() > kSqlShownMax ? line + "…" : line;
}

}  // namespace

std::string failure_text(std::string_view database, std::string_view why, std::string_view sql) {
  std::string text = fmt::format("{}: {}", database, why);
  if (!sql.empty()) text += fmt::format(", in \"{}\"", one_line(sql));
  return text;
}

}  // namespace starling::db
