// The command that shows the audit log.
#include <fmt/core.h>

#include <algorithm>

#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
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
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace

Status show_audit(const AuditOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(auto lines, database->stores().operation.audit.list(options.lines, INT64_MAX));
  std::reverse(lines.begin(), lines.end());
  if (!options.json) fmt::print("{:<17} {:<20} {:<20} {:<30} {}\n", "when", "who", "action", "what", "note");
  for (const db::AuditLine& line : lines) {
    if (options.json) {
      fmt::print("{}\n", encode(line));
    } else {
      fmt::print("{:<17} {:<20} {:<20} {:<30} {}\n", local_time(line.at), line.who, line.action, line.subject,
                 line.note);
    }
  }
  return {};
}

}  // namespace starling::server
