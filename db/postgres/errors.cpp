#include "db/postgres/errors.h"

namespace starling::db {

ErrorCode code_of_state(std::string_view state) {
  if (state == "23505") return ErrorCode::already_exists;       // unique
  if (state == "23503") return ErrorCode::failed_precondition;  // foreign key
  if (state == "57014") return ErrorCode::deadline_exceeded;    // cancelled
  if (state == "3D000") return ErrorCode::not_found;            // no such database
  if (state == "25006") return ErrorCode::permission_denied;    // read only
  if (state == "08P01") return ErrorCode::internal;             // wrong use, such as too few parameters
  const std::string_view family = state.substr(0, 2);
  // Bad values, checks, triggers, exceeded limits.
  if (family == "22" || family == "23" || family == "P0" || family == "54") return ErrorCode::invalid_argument;
  if (family == "28" || state == "42501") return ErrorCode::permission_denied;
  if (family == "53") return ErrorCode::resource_exhausted;
  if (family == "58") return ErrorCode::io;
  if (state == "XX001" || state == "XX002") return ErrorCode::corrupt;
  // Lost connections, deadlocks, lock timeouts, a server that shuts down.
  if (family == "08" || family == "40" || family == "55" || family == "57") {
    return ErrorCode::unavailable;
  }
  return ErrorCode::internal;
}

std::string plain(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool blank = c == '\n' || c == '\t' || c == ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string reason(std::string_view message) {
  constexpr std::string_view kAfterSeverity = ":  ";
  const std::string_view first = message.substr(0, message.find('\n'));
  const std::size_t severity = first.find(kAfterSeverity);
  return plain(severity == std::string_view::npos ? first : first.substr(severity + kAfterSeverity.size()));
}

}  // namespace starling::db
