#include "coordinator/web/leaderboard_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "coordinator/web/html.h"
#include "shared/base/version.h"

namespace starling::web {
namespace {

constexpr int kRefreshSeconds = 15;
constexpr double kCurveWidth = 720;
constexpr double kCurveHeight = 140;
constexpr double kCurveMargin = 6;

class Html {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

double credit_of(const db::Totals& totals) {
  return static_cast<double>(totals.credit) / static_cast<double>(db::kMicroCreditsPerCredit);
}

std::string_view state_text(wire::RunState state) {
  switch (state) {
    case wire::RunState::created:
      return "not started yet";
    case wire::RunState::running:
      return "training";
    case wire::RunState::paused:
      return "paused";
    case wire::RunState::complete:
      return "complete";
  }
  return "";
}

std::string plural(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", grouped(count), thing, count == 1 ? "" : "s");
}

void add_figures(Html& html, const PageRun& run) {
  html.add("<dl>\n");
  if (!run.evaluations.empty()) {
    const double last = run.evaluations.back().bits_per_byte;
    const double first = run.evaluations.front().bits_per_byte;
    html.add("<div><dt>Bits per byte</dt><dd>{:.3f}<small>{:.3f} at the start</small></dd></div>\n", last, first);
  } else {
    html.add("<div><dt>Bits per byte</dt><dd>&ndash;<small>not measured yet</small></dd></div>\n");
  }
  html.add("<div><dt>Speed</dt><dd>{}<small>samples a second</small></dd></div>\n",
           short_number(run.swarm.samples_per_s));
  html.add("<div><dt>Swarm</dt><dd>{}<small>{} of {} training</small></dd></div>\n", grouped(run.swarm.swarm_size),
           grouped(run.swarm.ready), plural(run.swarm.swarm_size, "computer"));
  html.add("<div><dt>Accepted so far</dt><dd>{}<small>samples, {} credit</small></dd></div>\n",
           grouped(run.totals.samples), short_number(credit_of(run.totals)));
  html.add("</dl>\n");
}

void add_progress(Html& html, const PageRun& run) {
  const core::SwarmView& swarm = run.swarm;
  const bool running = swarm.state == wire::RunState::running;
  html.add("<section class=\"now\" aria-label=\"Progress of the run\">\n<div class=\"line\"><h2>Round {}</h2>",
           grouped(swarm.round));
  html.add("<span class=\"state{}\">{}</span>", running ? " running" : "", state_text(swarm.state));
  html.add("<span class=\"push\">{} of {} samples in this round</span></div>\n", grouped(swarm.samples_accumulated),
           grouped(swarm.target_batch_size));
  html.add("<progress max=\"{0}\" value=\"{1}\" aria-label=\"Samples gathered in this round\">{1} of {0}</progress>\n",
           std::max<SampleCount>(1, swarm.target_batch_size), swarm.samples_accumulated);
  add_figures(html, run);
  html.add("</section>\n");
}

// Held-out bits per byte over rounds. The axis begins at the lowest value, since the shape is what matters.
void add_curve(Html& html, const std::vector<db::Evaluation>& evaluations) {
  if (evaluations.size() < 2) return;
  const auto by_value = [](const db::Evaluation& a, const db::Evaluation& b) {
    return a.bits_per_byte < b.bits_per_byte;
  };
  const auto [low, high] = std::minmax_element(evaluations.begin(), evaluations.end(), by_value);
  const double height = std::max(high->bits_per_byte - low->bits_per_byte, 1e-9);
  const auto first = static_cast<double>(evaluations.front().round);
  const double width = std::max(static_cast<double>(evaluations.back().round) - first, 1.0);
  std::string points;
  for (const db::Evaluation& evaluation : evaluations) {
    const double x = (static_cast<double>(evaluation.round) - first) / width * kCurveWidth;
    const double y = (high->bits_per_byte - evaluation.bits_per_byte) / height;
    points += fmt::format("{:.1f},{:.1f} ", x, kCurveMargin + y * (kCurveHeight - 2 * kCurveMargin));
  }
  html.add(
      "<section>\n<h2>What it has learned</h2>\n<svg viewBox=\"0 0 {0} {1}\" preserveAspectRatio=\"none\" "
      "role=\"img\" ",
      kCurveWidth, kCurveHeight);
  html.add("aria-label=\"Held-out bits per byte fell from {:.3f} to {:.3f}\">", evaluations.front().bits_per_byte,
           evaluations.back().bits_per_byte);
  for (const double y : {0.02, 0.5, 0.98}) {
    html.add("<line class=\"grid\" x1=\"0\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", kCurveWidth, y * kCurveHeight,
             y * kCurveHeight);
  }
  html.add("<polygon class=\"area\" points=\"0,{1} {2}{0},{1}\"/>", kCurveWidth, kCurveHeight, points);
  html.add("<polyline class=\"curve\" points=\"{}\"/></svg>\n", points);
  html.add(
      "<div class=\"ends\"><span>round {}: {:.3f}</span><span class=\"what\">bits per byte of text it has never seen; "
      "lower is "
      "better</span><span>round {}: {:.3f}</span></div>\n</section>\n",
      grouped(evaluations.front().round), evaluations.front().bits_per_byte, grouped(evaluations.back().round),
      evaluations.back().bits_per_byte);
}

void add_row(Html& html, const db::LeaderboardRow& row, std::int64_t rank, const PageRun& run, WallTime now) {
  const double all = std::max(1.0, static_cast<double>(run.totals.samples));
  const double share = static_cast<double>(row.totals.samples) / all;
  html.add("<tr{}><td>{}</td><td><bdi>{}</bdi></td><td>{}</td><td>{}</td>", rank == 1 ? " class=\"first\"" : "",
           grouped(rank), escape(row.display_name), short_number(credit_of(row.totals)), grouped(row.totals.samples));
  html.add(
      "<td class=\"share\"><svg viewBox=\"0 0 100 10\" role=\"img\" aria-label=\"{0:.1f} percent of all samples\">"
      "<rect width=\"100\" height=\"10\" rx=\"5\"/><rect width=\"{1:.1f}\" height=\"10\" rx=\"5\"/></svg></td>",
      100 * share, std::clamp(100 * share, 3.0, 100.0));
  html.add("<td class=\"when\">{}</td></tr>\n", ago(row.last_contribution, now));
}

void add_pages(Html& html, int page, std::int64_t volunteers) {
  const std::int64_t pages = (volunteers + kRowsPerPage - 1) / kRowsPerPage;
  if (pages <= 1) return;
  html.add("<nav aria-label=\"Pages\">");
  if (page > 1) html.add("<a rel=\"prev\" href=\"/?page={}\">Previous</a>", page - 1);
  html.add("<span>Page {} of {}</span>", page, grouped(pages));
  if (page < pages) html.add("<a rel=\"next\" href=\"/?page={}\">Next</a>", page + 1);
  html.add("</nav>\n");
}

void add_table(Html& html, const PageRun& run, int page, WallTime now) {
  html.add("<section>\n");
  if (run.rows.empty()) {
    html.add(
        "<h2>Volunteers</h2>\n<p class=\"empty\">{}</p>\n</section>\n",
        page > 1 ? "Nobody is on this page." : "Nobody has contributed yet. The first round makes the first entry.");
    return;
  }
  html.add(
      "<table>\n<caption>{}</caption>\n<thead><tr><th scope=\"col\"><span aria-label=\"Rank\">#</span></th>"
      "<th scope=\"col\">Name</th><th scope=\"col\">Credit</th><th scope=\"col\">Samples</th>"
      "<th scope=\"col\" class=\"share\">Share</th><th scope=\"col\" class=\"when\">Last "
      "seen</th></tr></thead>\n<tbody>\n",
      plural(run.volunteers, "volunteer"));
  std::int64_t rank = std::int64_t{page - 1} * kRowsPerPage;
  for (const db::LeaderboardRow& row : run.rows) add_row(html, row, ++rank, run, now);
  html.add("</tbody>\n</table>\n");
  add_pages(html, page, run.volunteers);
  html.add("</section>\n");
}

}  // namespace

std::string render_page(const PageData& data) {
  Html html;
  const std::string project = escape(data.project);
  html.add("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{} - leaderboard</title>\n",
           project);
  html.add(
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"description\" content=\"Volunteers train a neural network together in the project {}.\">\n"
      "<meta http-equiv=\"refresh\" content=\"{}\">\n<style>{}</style>\n</head>\n<body>\n",
      project, kRefreshSeconds, page_style());
  const std::string title = data.run ? escape(data.run->title.empty() ? data.run->run_id : data.run->title) : "";
  html.add("<header><div><h1>{}</h1><p>{}</p></div></header>\n<main>\n", project,
           data.run ? title : std::string("A neural network, trained by volunteers"));
  if (data.run) {
    add_progress(html, *data.run);
    add_curve(html, data.run->evaluations);
    add_table(html, *data.run, data.page, data.now);
  } else {
    html.add(
        "<section class=\"now\"><h2>Nothing to train yet</h2><p class=\"empty\">The project has not made a run. "
        "This page fills as soon as it has.</p></section>\n");
  }
  html.add(
      "</main>\n<footer><p>Credit measures the computing that a volunteer's accepted samples took: 200 are a day of "
      "one GFLOPS.</p>\n<p>As of {}. <a href=\"/v1/leaderboard.json\">These figures as JSON</a>. Starling "
      "{}.</p></footer>\n"
      "</body>\n</html>\n",
      utc(data.now), kVersion);
  return html.take();
}

}  // namespace starling::web
