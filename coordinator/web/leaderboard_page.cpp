#include "coordinator/web/leaderboard_page.h"

#include <fmt/core.h>

#include "coordinator/web/html.h"
#include "coordinator/web/page.h"
#include "shared/net/url.h"

namespace starling::web {
namespace {

struct Column {
  db::Board board;
  std::string_view name;     // in addresses
  std::string_view head;     // the column's heading
  std::string_view title;    // tooltip of the column's link
  std::string_view caption;  // follows "by" in the table's caption
};
constexpr Column kColumns[] = {
    {db::Board::recent, "recent", "Recent", "Recent average", "recent average"},
    {db::Board::total, "total", "Total", "Total credit", "total credit"},
    {db::Board::run, "run", "This run", "Credit in this run", "credit in this run"},
    {db::Board::day, "day", "24 hours", "Credit of the last 24 hours", "credit of the last 24 hours"},
    {db::Board::week, "week", "7 days", "Credit of the last 7 days", "credit of the last 7 days"}};

const Column& column_of(db::Board board) {
  for (const Column& column : kColumns) {
    if (column.board == board) return column;
  }
  return kColumns[0];
}

struct Whose {
  db::Holder holder;
  std::string_view name;   // in addresses
  std::string_view title;  // text of its link
  std::string_view one;    // singular, as in "1 volunteer"
  std::string_view page;   // path of each holder's page; empty: no pages
};
constexpr Whose kHolders[] = {{db::Holder::volunteer, "volunteers", "Volunteers", "volunteer", "/volunteer/"},
                              {db::Holder::team, "teams", "Teams", "team", "/team/"},
                              {db::Holder::computer, "computers", "Computers", "computer", ""}};

const Whose& whose(db::Holder holder) {
  for (const Whose& each : kHolders) {
    if (each.holder == holder) return each;
  }
  return kHolders[0];
}

double value_of(const db::Standing& row, db::Board board, WallTime now) {
  switch (board) {
    case db::Board::recent:
      return db::decayed(row.recent, now);
    case db::Board::total:
      return credit_of(row.total);
    case db::Board::run:
      return credit_of(row.run);
    case db::Board::day:
      return credit_of(row.day);
    case db::Board::week:
      return credit_of(row.week);
  }
  return 0;
}

// The address of this view with changes, ready for an attribute.
std::string address(const LeaderboardView& view, std::string_view path = "/leaderboard") {
  std::string text = fmt::format("{}?sort={}", path, name_of(view.board));
  if (view.of != db::Holder::volunteer) text += fmt::format("&of={}", name_of(view.of));
  if (!view.search.empty()) text += "&q=" + net::url_encode(view.search);
  if (!view.me.empty()) text += "&me=" + net::url_encode(view.me);
  if (view.page > 1) text += fmt::format("&page={}", view.page);
  return escape(text);
}

LeaderboardView sorted_by(LeaderboardView view, db::Board board) {
  view.board = board;
  view.page = 1;
  return view;
}

LeaderboardView on_page(LeaderboardView view, int page) {
  view.page = page;
  return view;
}

void add_holders(std::string& html, const LeaderboardView& view) {
  html += "<nav class=\"tabs whose\" aria-label=\"Whose\"><ul>";
  for (const Whose& each : kHolders) {
    LeaderboardView other = on_page(view, 1);
    other.of = each.holder;
    other.search.clear();
    html += fmt::format("<li><a href=\"{}\"{}>{}</a></li>", address(other),
                        each.holder == view.of ? " aria-current=\"true\"" : "", each.title);
  }
  html += "</ul></nav>\n";
}

void add_boards(std::string& html, const LeaderboardView& view) {
  html += "<nav class=\"tabs\" aria-label=\"Order\"><ul>";
  for (const Column& column : kColumns) {
    html += fmt::format("<li><a href=\"{}\"{}>{}</a></li>", address(sorted_by(view, column.board)),
                        column.board == view.board ? " aria-current=\"true\"" : "",
                        column.board == db::Board::recent ? "Recent average" : column.head);
  }
  html += "</ul></nav>\n";
}

void add_search(std::string& html, const LeaderboardView& view) {
  html += fmt::format(
      "<form role=\"search\" action=\"/leaderboard\" method=\"get\"><input type=\"hidden\" name=\"sort\" value=\"{}\">",
      name_of(view.board));
  if (view.of != db::Holder::volunteer) {
    html += fmt::format("<input type=\"hidden\" name=\"of\" value=\"{}\">", name_of(view.of));
  }
  if (!view.me.empty()) html += fmt::format("<input type=\"hidden\" name=\"me\" value=\"{}\">", escape(view.me));
  html += fmt::format(
      "<label for=\"q\">Find {}</label><input id=\"q\" name=\"q\" type=\"search\" maxlength=\"{}\" "
      "value=\"{}\" "
      "autocomplete=\"off\"><button>Find</button>",
      view.of == db::Holder::team ? "a team" : "a volunteer", kSearchBytesMax, escape(view.search));
  if (!view.search.empty()) {
    LeaderboardView everybody = on_page(view, 1);
    everybody.search.clear();
    html += fmt::format("<a href=\"{}\">Everybody</a>", address(everybody));
  }
  html += "</form>\n";
}

void add_head(std::string& html, const LeaderboardView& view) {
  html += "<thead><tr><th scope=\"col\"><span aria-label=\"Rank\">#</span></th><th scope=\"col\">Name</th>";
  for (const Column& column : kColumns) {
    const bool chosen = column.board == view.board;
    html += fmt::format("<th scope=\"col\" class=\"k{}\"{}><a href=\"{}\" title=\"{}\">{}</a></th>",
                        chosen ? " on" : "", chosen ? " aria-sort=\"descending\"" : "",
                        address(sorted_by(view, column.board)), column.title, column.head);
  }
  html += "<th scope=\"col\" class=\"s\">Samples</th><th scope=\"col\" class=\"when\">Last credit</th></tr></thead>\n";
}

void add_row(std::string& html, const LeaderboardData& data, const db::Standing& row, bool own) {
  const LeaderboardView& view = data.view;
  const std::string rank = row.rank > 0 ? grouped(row.rank) : "&ndash;";
  const std::string_view page = whose(view.of).page;
  const std::string name = fmt::format("<bdi>{}</bdi>", escape(row.display_name));
  html += fmt::format(
      "<tr{}><td>{}</td><th scope=\"row\">{}",
      own             ? " class=\"own\""
      : row.rank == 1 ? " class=\"first\""
                      : "",
      rank, page.empty() ? name : fmt::format("<a class=\"name\" href=\"{}{}\">{}</a>", page, row.holder_id, name));
  if (row.team_id != 0) {
    html += fmt::format(" <a class=\"of\" href=\"/team/{}\"><bdi>{}</bdi></a>", row.team_id, escape(row.team_name));
  }
  if (own) {
    html += " <span class=\"tag\">you</span>";
  } else if (!view.search.empty() && view.of == db::Holder::volunteer) {
    LeaderboardView mine = on_page(view, 1);
    mine.me = row.display_name;
    mine.search.clear();
    html += fmt::format(" <a class=\"pin\" href=\"{}\">this is me</a>", address(mine));
  }
  html += "</th>";
  for (const Column& column : kColumns) {
    html += fmt::format("<td class=\"k{}\">{}</td>", column.board == view.board ? " on" : "",
                        short_number(value_of(row, column.board, data.now)));
  }
  html += fmt::format("<td class=\"s\">{}</td><td class=\"when\">{}</td></tr>\n", grouped(row.total.samples),
                      ago(row.last_contribution, data.now));
}

void add_pages(std::string& html, const LeaderboardData& data) {
  const LeaderboardView& view = data.view;
  const std::int64_t pages = (data.standings.volunteers + view.per_page - 1) / view.per_page;
  if (pages <= 1) return;
  const auto link = [&](std::string_view relation, std::string_view text, std::int64_t page) {
    html += fmt::format("<a{} href=\"{}\">{}</a>", relation, address(on_page(view, static_cast<int>(page))), text);
  };
  html += "<nav class=\"pages\" aria-label=\"Pages of the leaderboard\">";
  if (view.page > 1) link("", "First", 1);
  if (view.page > 1) link(" rel=\"prev\"", "Previous", view.page - 1);
  html += fmt::format("<span>Page {} of {}</span>", grouped(view.page), grouped(pages));
  if (view.page < pages) link(" rel=\"next\"", "Next", view.page + 1);
  if (view.page < pages) link("", "Last", pages);
  html += "</nav>\n";
}

std::string nobody(const LeaderboardView& view) {
  if (!view.search.empty()) return fmt::format("Nobody's name contains \"{}\".", escape(view.search));
  if (view.page > 1) return "Nobody is on this page.";
  if (view.of == db::Holder::team) return "No team has contributed here yet. Found one on your account page.";
  if (view.of == db::Holder::computer) return "No computers to show: only those whose owners want it are here.";
  return view.board == db::Board::recent || view.board == db::Board::total
             ? "Nobody has contributed yet. The first round makes the first entry."
             : "Nobody has contributed in this time or run.";
}

void add_table(std::string& html, const LeaderboardData& data) {
  const db::Standings& standings = data.standings;
  if (standings.rows.empty() && !standings.pinned) {
    html += fmt::format("<p class=\"empty\">{}</p>\n", nobody(data.view));
    return;
  }
  const std::string how_many =
      data.view.search.empty()
          ? plural(standings.volunteers, whose(data.view.of).one)
          : fmt::format("{} with \"{}\"", plural(standings.volunteers, "name"), escape(data.view.search));
  html += fmt::format("<table class=\"board\">\n<caption>{}, by {}</caption>\n", how_many,
                      column_of(data.view.board).caption);
  add_head(html, data.view);
  html += "<tbody>\n";
  if (standings.pinned) add_row(html, data, *standings.pinned, true);
  for (const db::Standing& row : standings.rows) {
    const bool own = standings.pinned && standings.pinned->holder_id == row.holder_id;
    if (!own) add_row(html, data, row, false);
  }
  html += "</tbody>\n</table>\n";
  if (standings.rows.empty()) html += fmt::format("<p class=\"empty\">{}</p>\n", nobody(data.view));
  add_pages(html, data);
}

}  // namespace

db::Holder holder_named(std::string_view name) {
  for (const Whose& each : kHolders) {
    if (each.name == name) return each.holder;
  }
  return db::Holder::volunteer;
}

std::string_view name_of(db::Holder holder) { return whose(holder).name; }

db::Board board_named(std::string_view name) {
  for (const Column& column : kColumns) {
    if (column.name == name) return column.board;
  }
  return db::Board::recent;
}

std::string_view name_of(db::Board board) { return column_of(board).name; }

std::string render_leaderboard(const LeaderboardData& data) {
  std::string html = "<section class=\"now\">\n";
  add_holders(html, data.view);
  add_boards(html, data.view);
  add_search(html, data.view);
  if (!data.view.me.empty() && !data.standings.pinned && data.view.of == db::Holder::volunteer) {
    html += fmt::format("<p class=\"empty\">There is no volunteer \"{}\" with credit yet.</p>\n", escape(data.view.me));
  }
  add_table(html, data);
  html += fmt::format(
      "<p class=\"what\">Recent average: credit a day, half of which is forgotten every 7 days. <a "
      "href=\"/credit\">How "
      "credit is counted</a>. This page as <a href=\"{}\">CSV</a> or <a href=\"{}\">JSON</a>.</p>\n</section>\n",
      address(data.view, "/leaderboard.csv"), address(data.view, "/v1/leaderboard.json"));
  return framed({data.project, "Leaderboard", "", "/leaderboard", 0, data.now}, html);
}

}  // namespace starling::web
