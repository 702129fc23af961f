// The leaderboard as CSV and as JSON.
#include <fmt/core.h>

#include "coordinator/web/leaderboard_page.h"
#include "shared/wire/json_writer.h"

namespace starling::web {
namespace {

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
  writer.number("recent_average", db::decayed(row.recent, now));
  const auto totals = [&](const std::string& of, const db::Totals& value) {
    writer.number(of + "credit", credit_of(value));
    writer.integer(of + "samples", value.samples);
  };
  totals("", row.total);
  totals("run_", row.run);
  totals("day_", row.day);
  totals("week_", row.week);
  if (row.team_id != 0) writer.text("team", row.team_name);
  writer.integer("joined_unix_ms", row.joined.unix_ms);
  writer.integer("last_contribution_unix_ms", row.last_contribution.unix_ms);
  writer.close('}');
}

}  // namespace

std::string leaderboard_csv(const LeaderboardData& data) {
  std::string csv =
      "rank,name,recent_average,credit,samples,run_credit,run_samples,day_credit,day_samples,week_credit,week_samples,"
      "joined_unix_ms,last_contribution_unix_ms,team\r\n";
  for (const db::Standing& row : data.standings.rows) {
    csv += fmt::format("{},{},{:.6f},{:.6f},{},{:.6f},{},{:.6f},{},{:.6f},{},{},{},{}\r\n", row.rank,
                       csv_text(row.display_name), db::decayed(row.recent, data.now), credit_of(row.total),
                       row.total.samples, credit_of(row.run), row.run.samples, credit_of(row.day), row.day.samples,
                       credit_of(row.week), row.week.samples, row.joined.unix_ms, row.last_contribution.unix_ms,
                       csv_text(row.team_name));
  }
  return csv;
}

std::string leaderboard_json(const LeaderboardData& data) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("project", data.project);
  writer.text("run_id", data.run_id);
  writer.text("of", name_of(data.view.of));
  writer.text("sort", name_of(data.view.board));
  writer.integer("as_of_unix_ms", data.now.unix_ms);
  writer.integer("volunteers", data.standings.volunteers);
  writer.integer("page", data.view.page);
  writer.integer("per_page", data.view.per_page);
  if (data.standings.pinned) write_row(writer, "pinned", *data.standings.pinned, data.now);
  writer.open("rows", '[');
  for (const db::Standing& row : data.standings.rows) write_row(writer, "", row, data.now);
  writer.close(']');
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace starling::web
