// The command that shows the audit log.
#include <fmt/core.h>

#include <algorithm>

#include "coordinator/operations/audit_chain.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/plain_text.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

std::string encode(const db::AuditLine& line) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.integer("id", line.id);
  writer.integer("unix_ms", line.at.unix_ms);
  writer.text("who", line.who);
  writer.text("action", line.action);
  writer.text("subject", line.subject);
  writer.text("note", line.note);
  if (line.digest) writer.text("digest", line.digest->hex());
  writer.close('}');
  return std::move(writer.str());
}

Status verify(const db::AuditStore& audit, const std::string& noted_hex) {
  std::optional<Digest> noted;
  if (!noted_hex.empty()) {
    const auto digest = Digest::from_hex(noted_hex);
    if (!digest)
      return Error{ErrorCode::invalid_argument, fmt::format("--noted: '{}' has no 64 hex digits", noted_hex)};
    noted = *digest;
  }
  STARLING_ASSIGN(const operations::AuditCheck check, operations::check_audit(audit, noted));
  if (!check.problem.empty()) {
    return Error{ErrorCode::failed_precondition, fmt::format("the audit log was tampered with: {}", check.problem)};
  }
  if (check.unchained > 0) {
    fmt::print("{} lines are of an older version, and are chained with the next act\n", check.unchained);
    return {};
  }
  fmt::print("the audit log is whole: {} lines; note the last one's digest elsewhere, for --noted:\n{}\n", check.lines,
             check.last.hex());
  return {};
}

}  // namespace

Status show_audit(const AuditOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  if (options.verify) return verify(database->stores().operation.audit, options.noted);
  STARLING_ASSIGN(auto lines, database->stores().operation.audit.list(options.lines, INT64_MAX));
  std::reverse(lines.begin(), lines.end());
  if (!options.json) fmt::print("{:<17} {:<20} {:<20} {:<30} {}\n", "when", "who", "action", "what", "note");
  for (const db::AuditLine& line : lines) {
    if (options.json) {
      fmt::print("{}\n", encode(line));
    } else {
      fmt::print("{:<17} {:<20} {:<20} {:<30} {}\n", local_time(line.at), plain_line(line.who), plain_line(line.action),
                 plain_line(line.subject), plain_line(line.note));
    }
  }
  return {};
}

}  // namespace starling::server
