#include "db/postgres/placeholders.h"

namespace starling::db {

std::string numbered_parameters(std::string_view sql) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string numbered;
  numbered.reserve(sql.size() + 16);
  bool quoted = false;
  int count = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] == '\'') quoted = !quoted;
    if (quoted || sql[i] != '?') {
      numbered += sql[i];
      continue;
    }
    numbered += '$';
    if (i + 1 == sql.size() || !is_digit(sql[i + 1])) numbered += std::to_string(++count);
  }
  return numbered;
}

}  // namespace starling::db
