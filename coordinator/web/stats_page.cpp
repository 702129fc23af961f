#include "coordinator/web/stats_page.h"

#include <fmt/core.h>

#include <charconv>

#include "coordinator/web/html.h"
#include "coordinator/web/page.h"
#include "coordinator/web/stats_files.h"
#include "shared/base/files.h"

namespace starling::web {
namespace {

constexpr std::size_t kSmallFileMax = 64 * 1024;  // tables.xml, SHA256SUMS
constexpr std::size_t kSha256Digits = 64;
constexpr std::string_view kTimeElement = "<update_time>";

struct Kind {
  std::string_view stem;  // the common stem of its files' names
  std::string_view what;
};
constexpr Kind kKinds[] = {{"tables", "when the files were made, and how many there are of each kind"},
                           {"user_deleted", "numbers of accounts deleted in the last 60 days: forget them, too"},
                           {"host_deleted", "numbers of their computers"},
                           {"user", "volunteers with credit"},
                           {"team", "teams with credit"},
                           {"host", "computers with credit; without a name, and whose only where the owner says so"},
                           {"SHA256SUMS", "digests of all the others"}};

struct Field {
  std::string_view name;
  std::string_view in;
  std::string_view meaning;
};
constexpr Field kFields[] = {
    {"id", "user, team, host", "its number here, for good"},
    {"name", "user, team", "as it is shown"},
    {"create_time", "user, team, host", "when it came, in seconds since 1970 (UTC), as all times"},
    {"total_credit", "user, team, host", "all final credit so far; 200 are a day of one GFLOPS"},
    {"expavg_credit", "user, team, host",
     "recent average at expavg_time: credit a day, of which half goes in 7 days; as on the leaderboard, with what is "
     "not "
     "final yet"},
    {"expavg_time", "user, team, host", "when expavg_credit was true; it halves every 604,800 seconds from there"},
    {"cpid", "user", "the same in every export, and made of nothing that is known of the volunteer"},
    {"teamid", "user", "the number of the team, if any"},
    {"userid", "team, host", "the founder; the owner of a computer, where the owner shows it"},
    {"founder_name", "team", "the founder's name"},
    {"nusers", "team", "members now"},
    {"user_id, host_id", "user_deleted, host_deleted", "the number that is gone"},
    {"delete_time", "user_deleted, host_deleted", "when"}};

std::string_view what_is(std::string_view name) {
  const std::string_view stem = name.substr(0, name.find('.'));
  for (const Kind& kind : kKinds) {
    if (kind.stem == stem) return kind.what;
  }
  return "";
}

std::string format_of(std::string_view name) {
  if (name.ends_with(".jsonl.gz")) return "JSON lines, gzip";
  if (name.ends_with(".gz")) return "XML, gzip";
  return name.ends_with(".xml") ? "XML" : "text";
}

void add_files(std::string& html, const StatsPageData& data) {
  html +=
      "<table class=\"plain wide told\"><thead><tr><th scope=\"col\">File</th><th scope=\"col\">Size</th><th "
      "class=\"note\" scope=\"col\">What is in it</th></tr></thead><tbody>\n";
  for (const StatsFile& file : data.files) {
    html += fmt::format(
        "<tr><th scope=\"row\"><a href=\"/stats/{0}\">{0}</a></th><td>{1}</td><td class=\"note\">{2}; "
        "{3}{4}</td></tr>\n",
        file.name, size_text(file.bytes), what_is(file.name), format_of(file.name),
        file.sha256.empty() ? std::string() : fmt::format("<code class=\"digest\">SHA-256 {}</code>", file.sha256));
  }
  html += "</tbody></table>\n";
}

void add_fields(std::string& html) {
  html +=
      "<section aria-labelledby=\"fields\">\n<h2 id=\"fields\">What the files say</h2>\n<p>Their names and fields are "
      "those of BOINC's projects. Each <code>….gz</code> is one XML document, each <code>….jsonl.gz</code> the same "
      "with a "
      "JSON object a line. Whoever has no credit yet is in none of them, and nobody's address, e-mail or computer name "
      "is.</p>\n<table class=\"plain wide told\"><thead><tr><th scope=\"col\">Field</th><th scope=\"col\">Of</th><th "
      "class=\"note\" scope=\"col\">Meaning</th></tr></thead><tbody>\n";
  for (const Field& field : kFields) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"note\">{}</td></tr>\n", field.name,
                        field.in, field.meaning);
  }
  html +=
      "</tbody></table>\n<p>All files of an export are of one moment and are replaced together. <code>sha256sum "
      "--check "
      "SHA256SUMS</code> tells whether what you have fetched is whole.</p>\n</section>\n";
}

std::optional<WallTime> time_in(const std::string& tables) {
  const std::size_t at = tables.find(kTimeElement);
  if (at == std::string::npos) return std::nullopt;
  std::int64_t seconds = 0;
  const char* begin = tables.data() + at + kTimeElement.size();
  if (std::from_chars(begin, tables.data() + tables.size(), seconds).ec != std::errc()) return std::nullopt;
  return WallTime{seconds * 1000};
}

// Looks up a digest among lines as sha256sum writes them: 64 digits, two spaces, a name.
std::string digest_in(const std::string& sums, std::string_view name) {
  const std::size_t at = sums.find(fmt::format("  {}\n", name));
  return at == std::string::npos || at < kSha256Digits ? std::string() : sums.substr(at - kSha256Digits, kSha256Digits);
}

}  // namespace

StatsPageData read_stats_folder(const std::filesystem::path& folder) {
  StatsPageData data;
  const auto tables = read_file(folder / kStatsTables, kSmallFileMax);
  if (tables) data.made = time_in(*tables);
  const auto sums = read_file(folder / kStatsDigests, kSmallFileMax);
  for (const std::string_view name : stats_files()) {
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(folder / name, absent);
    if (absent) continue;
    data.files.push_back({name, static_cast<std::int64_t>(bytes), sums ? digest_in(*sums, name) : std::string()});
  }
  return data;
}

std::string render_stats_page(const StatsPageData& data) {
  std::string html = "<section class=\"now\" aria-labelledby=\"files\">\n<h2 id=\"files\">Files</h2>\n";
  if (data.files.empty()) {
    html +=
        "<p class=\"empty\">None yet: the project has not exported its statistics. The leaderboard is there as <a "
        "href=\"/leaderboard.csv\">CSV</a> and <a href=\"/v1/leaderboard.json\">JSON</a> at any time.</p>\n";
  } else {
    if (data.made)
      html += fmt::format("<p class=\"what\">Made {}, {}.</p>\n", utc(*data.made), ago(*data.made, data.now));
    add_files(html, data);
  }
  html += "</section>\n";
  add_fields(html);
  return framed({.project = data.project,
                 .title = "Files for statistics sites",
                 .subtitle = "Volunteers, teams and computers with their credit, for sites that compare many projects",
                 .path = "/stats/",
                 .now = data.now},
                html);
}

}  // namespace starling::web
