#include "coordinator/web/leaderboard_page.h"

#include <fmt/core.h>

#include <cctype>

#include "coordinator/web/html.h"
#include "coordinator/web/page.h"
#include "shared/net/url.h"

namespace starling::web {
namespace {

using leaderboard::Column;
using leaderboard::kColumns;
using leaderboard::Unit;

struct HolderTexts {
  db::Holder holder;
  std::string_view name;   // in addresses
  std::string_view title;  // text of its link
  std::string_view one;    // singular, as in "1 volunteer"
  std::string_view page;   // path of each holder's page; empty: no pages
};
constexpr HolderTexts kHolders[] = {{db::Holder::volunteer, "volunteers", "Volunteers", "volunteer", "/volunteer/"},
                                    {db::Holder::team, "teams", "Teams", "team", "/team/"},
                                    {db::Holder::computer, "computers", "Computers", "computer", ""}};

const HolderTexts& texts_of(db::Holder holder) {
  for (const HolderTexts& each : kHolders) {
    if (each.holder == holder) return each;
  }
  return kHolders[0];
}

// The address of this query, ready for an attribute.
std::string address(const LeaderboardQuery& query, std::string_view path = "/leaderboard") {
  std::string text = fmt::format("{}?sort={}", path, leaderboard::column_of(query.board).sort);
  if (query.of != db::Holder::volunteer) text += fmt::format("&of={}", name_of(query.of));
  if (!query.search.empty()) text += "&q=" + net::url_encode(query.search);
  if (!query.me.empty()) text += "&me=" + net::url_encode(query.me);
  if (query.page > 1) text += fmt::format("&page={}", query.page);
  return escape(text);
}

LeaderboardQuery sorted_by(LeaderboardQuery query, db::Board board) {
  query.board = board;
  query.page = 1;
  return query;
}

LeaderboardQuery on_page(LeaderboardQuery query, int page) {
  query.page = page;
  return query;
}

void add_holders(std::string& html, const LeaderboardQuery& query) {
  html += "<nav class=\"tabs whose\" aria-label=\"Whose\"><ul>";
  for (const HolderTexts& each : kHolders) {
    LeaderboardQuery other = on_page(query, 1);
    other.of = each.holder;
    other.search.clear();
    html += fmt::format("<li><a href=\"{}\"{}>{}</a></li>", address(other),
                        each.holder == query.of ? " aria-current=\"true\"" : "", each.title);
  }
  html += "</ul></nav>\n";
}

void add_boards(std::string& html, const LeaderboardQuery& query) {
  html += "<nav class=\"tabs\" aria-label=\"Order\"><ul>";
  for (const Column& column : kColumns) {
    if (column.sort.empty()) continue;
    html += fmt::format("<li><a href=\"{}\"{}>{}</a></li>", address(sorted_by(query, column.board)),
                        column.board == query.board ? " aria-current=\"true\"" : "",
                        column.unit == Unit::credit_per_day ? column.title : column.heading);
  }
  html += "</ul></nav>\n";
}

void add_search(std::string& html, const LeaderboardQuery& query) {
  html += fmt::format(
      "<form role=\"search\" action=\"/leaderboard\" method=\"get\"><input type=\"hidden\" name=\"sort\" value=\"{}\">",
      leaderboard::column_of(query.board).sort);
  if (query.of != db::Holder::volunteer) {
    html += fmt::format("<input type=\"hidden\" name=\"of\" value=\"{}\">", name_of(query.of));
  }
  if (!query.me.empty()) html += fmt::format("<input type=\"hidden\" name=\"me\" value=\"{}\">", escape(query.me));
  html += fmt::format(
      "<label for=\"q\">Find {}</label><input id=\"q\" name=\"q\" type=\"search\" maxlength=\"{}\" "
      "value=\"{}\" "
      "autocomplete=\"off\"><button>Find</button>",
      query.of == db::Holder::team ? "a team" : "a volunteer", kSearchBytesMax, escape(query.search));
  if (!query.search.empty()) {
    LeaderboardQuery everybody = on_page(query, 1);
    everybody.search.clear();
    html += fmt::format("<a href=\"{}\">Everybody</a>", address(everybody));
  }
  html += "</form>\n";
}

// Whether the page shows the column without an order by it.
bool is_plain(const Column& column) { return column.sort.empty() && !column.heading.empty(); }

std::string figure_text(const db::Standing& row, const Column& column, WallTime now) {
  return column.unit == Unit::samples ? grouped(row.earned(column.board).samples)
                                      : short_number(figure_of(row, column, now));
}

// "Total credit" as "total credit".
std::string within_a_sentence(std::string_view title) {
  std::string text(title);
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

void add_head(std::string& html, const LeaderboardQuery& query) {
  html += "<thead><tr><th scope=\"col\"><span aria-label=\"Rank\">#</span></th><th scope=\"col\">Name</th>";
  for (const Column& column : kColumns) {
    if (column.sort.empty()) continue;
    const bool chosen = column.board == query.board;
    html += fmt::format("<th scope=\"col\" class=\"k{}\"{}><a href=\"{}\" title=\"{}\">{}</a></th>",
                        chosen ? " on" : "", chosen ? " aria-sort=\"descending\"" : "",
                        address(sorted_by(query, column.board)), column.title, column.heading);
  }
  for (const Column& column : kColumns) {
    if (is_plain(column)) html += fmt::format("<th scope=\"col\" class=\"s\">{}</th>", column.heading);
  }
  html += "<th scope=\"col\" class=\"when\">Last credit</th></tr></thead>\n";
}

void add_row(std::string& html, const LeaderboardData& data, const db::Standing& row, bool own) {
  const LeaderboardQuery& query = data.query;
  const std::string rank = row.rank > 0 ? grouped(row.rank) : "&ndash;";
  const std::string_view page = texts_of(query.of).page;
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
  } else if (!query.search.empty() && query.of == db::Holder::volunteer) {
    LeaderboardQuery mine = on_page(query, 1);
    mine.me = row.display_name;
    mine.search.clear();
    html += fmt::format(" <a class=\"pin\" href=\"{}\">this is me</a>", address(mine));
  }
  html += "</th>";
  for (const Column& column : kColumns) {
    if (column.sort.empty()) continue;
    html += fmt::format("<td class=\"k{}\">{}</td>", column.board == query.board ? " on" : "",
                        figure_text(row, column, data.now));
  }
  for (const Column& column : kColumns) {
    if (is_plain(column)) html += fmt::format("<td class=\"s\">{}</td>", figure_text(row, column, data.now));
  }
  html += fmt::format("<td class=\"when\">{}</td></tr>\n", ago(row.last_contribution, data.now));
}

void add_pages(std::string& html, const LeaderboardData& data) {
  const LeaderboardQuery& query = data.query;
  const std::int64_t pages = (data.standings.volunteers + query.per_page - 1) / query.per_page;
  if (pages <= 1) return;
  const auto link = [&](std::string_view relation, std::string_view text, std::int64_t page) {
    html += fmt::format("<a{} href=\"{}\">{}</a>", relation, address(on_page(query, static_cast<int>(page))), text);
  };
  html += "<nav class=\"pages\" aria-label=\"Pages of the leaderboard\">";
  if (query.page > 1) link("", "First", 1);
  if (query.page > 1) link(" rel=\"prev\"", "Previous", query.page - 1);
  html += fmt::format("<span>Page {} of {}</span>", grouped(query.page), grouped(pages));
  if (query.page < pages) link(" rel=\"next\"", "Next", query.page + 1);
  if (query.page < pages) link("", "Last", pages);
  html += "</nav>\n";
}

std::string nobody(const LeaderboardQuery& query) {
  if (!query.search.empty()) return fmt::format("Nobody's name contains \"{}\".", escape(query.search));
  if (query.page > 1) return "Nobody is on this page.";
  if (query.of == db::Holder::team) return "No team has contributed here yet. Found one on your account page.";
  if (query.of == db::Holder::computer) return "No computers to show: only those whose owners want it are here.";
  return query.board == db::Board::recent || query.board == db::Board::total
             ? "Nobody has contributed yet. The first round makes the first entry."
             : "Nobody has contributed in this time or run.";
}

void add_table(std::string& html, const LeaderboardData& data) {
  const db::Standings& standings = data.standings;
  if (standings.rows.empty() && !standings.pinned) {
    html += fmt::format("<p class=\"empty\">{}</p>\n", nobody(data.query));
    return;
  }
  const std::string how_many =
      data.query.search.empty()
          ? plural(standings.volunteers, texts_of(data.query.of).one)
          : fmt::format("{} with \"{}\"", plural(standings.volunteers, "name"), escape(data.query.search));
  html += fmt::format("<table class=\"board\">\n<caption>{}, by {}</caption>\n", how_many,
                      within_a_sentence(leaderboard::column_of(data.query.board).title));
  add_head(html, data.query);
  html += "<tbody>\n";
  if (standings.pinned) add_row(html, data, *standings.pinned, true);
  for (const db::Standing& row : standings.rows) {
    const bool own = standings.pinned && standings.pinned->holder_id == row.holder_id;
    if (!own) add_row(html, data, row, false);
  }
  html += "</tbody>\n</table>\n";
  if (standings.rows.empty()) html += fmt::format("<p class=\"empty\">{}</p>\n", nobody(data.query));
  add_pages(html, data);
}

}  // namespace

db::Holder holder_named(std::string_view name) {
  for (const HolderTexts& each : kHolders) {
    if (each.name == name) return each.holder;
  }
  return db::Holder::volunteer;
}

std::string_view name_of(db::Holder holder) { return texts_of(holder).name; }

double figure_of(const db::Standing& row, const Column& column, WallTime now) {
  switch (column.unit) {
    case Unit::credit_per_day:
      return db::decayed(row.recent, now);
    case Unit::credit:
      return credit_of(row.earned(column.board));
    case Unit::samples:
      return static_cast<double>(row.earned(column.board).samples);
  }
  return 0;
}

std::string render_leaderboard(const LeaderboardData& data) {
  std::string html = "<section class=\"now\">\n";
  add_holders(html, data.query);
  add_boards(html, data.query);
  add_search(html, data.query);
  if (!data.query.me.empty() && !data.standings.pinned && data.query.of == db::Holder::volunteer) {
    html +=
        fmt::format("<p class=\"empty\">There is no volunteer \"{}\" with credit yet.</p>\n", escape(data.query.me));
  }
  add_table(html, data);
  html += fmt::format(
      "<p class=\"what\">Recent average: credit a day, half of which is forgotten every 7 days. Credit counts here at "
      "once; while it is <a href=\"/credit#pending\">pending</a>, it is taken back where a check finds the work wrong. "
      "<a "
      "href=\"/credit\">How credit is counted</a>. This page as <a href=\"{}\">CSV</a> or <a "
      "href=\"{}\">JSON</a>.</p>\n</section>\n",
      address(data.query, "/leaderboard.csv"), address(data.query, "/v1/leaderboard.json"));
  return framed({data.project, "Leaderboard", "", "/leaderboard", 0, data.now}, html);
}

}  // namespace starling::web
