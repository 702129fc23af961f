// The leaderboard as CSV and as JSON.
#include <fmt/core.h>

#include "coordinator/web/leaderboard_page.h"
#include "shared/wire/json_writer.h"

namespace starling::web {
namespace {

using leaderboard::Column;
using leaderboard::kColumns;
using leaderboard::Unit;

// A field of RFC 4180. A text that a spreadsheet would take for a formula gets a quote before it.
std::string csv_text(std::string_view text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  std::string field = formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

void write_row(wire::JsonWriter& writer, std::string_view name, const db::Standing& row, WallTime now) {
  writer.open(name, '{');
  writer.integer("rank", row.rank);
  writer.text("name", row.display_name);
  for (const Column& column : kColumns) {
    if (column.unit == Unit::samples) {
      writer.integer(column.name, row.earned(column.board).samples);
    } else {
      writer.number(column.name, figure_of(row, column, now));
    }
  }
  if (row.team_id != 0) writer.text("team", row.team_name);
  writer.integer("joined_unix_ms", row.joined.unix_ms);
  writer.integer("last_contribution_unix_ms", row.last_contribution.unix_ms);
  writer.close('}');
}

}  // namespace

std::string leaderboard_csv(const LeaderboardData& data) {
  std::string csv = "rank,name";
  for (const Column& column : kColumns) csv += fmt::format(",{}", column.name);
  csv += ",joined_unix_ms,last_contribution_unix_ms,team\r\n";
  for (const db::Standing& row : data.standings.rows) {
    csv += fmt::format("{},{}", row.rank, csv_text(row.display_name));
    for (const Column& column : kColumns) {
      csv += fmt::format(",{:.{}f}", figure_of(row, column, data.now), column.unit == Unit::samples ? 0 : 6);
    }
    csv += fmt::format(",{},{},{}\r\n", row.joined.unix_ms, row.last_contribution.unix_ms, csv_text(row.team_name));
  }
  return csv;
}

std::string leaderboard_json(const LeaderboardData& data) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("project", data.project);
  writer.text("run_id", data.run_id);
  writer.text("of", name_of(data.query.of));
  writer.text("sort", leaderboard::column_of(data.query.board).sort);
  writer.integer("as_of_unix_ms", data.now.unix_ms);
  writer.integer("volunteers", data.standings.volunteers);
  writer.integer("page", data.query.page);
  writer.integer("per_page", data.query.per_page);
  if (data.standings.pinned) write_row(writer, "pinned", *data.standings.pinned, data.now);
  writer.open("rows", '[');
  for (const db::Standing& row : data.standings.rows) write_row(writer, "", row, data.now);
  writer.close(']');
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace starling::web
