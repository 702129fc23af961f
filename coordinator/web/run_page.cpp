#include "coordinator/web/run_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/web/credit_page.h"
#include "coordinator/web/html.h"
#include "coordinator/web/leaderboard_page.h"
#include "coordinator/web/loss_curve.h"
#include "coordinator/web/page.h"
#include "coordinator/web/qr_code.h"
#include "coordinator/web/swarm_charts.h"
#include "shared/net/url.h"

namespace starling::web {
namespace {

constexpr int kRefreshSeconds = 60;

std::string eta_note(const ShownRun& run) {
  if (run.rounds_max == 0) return "this run has no planned end";
  return fmt::format("until round {}", grouped(run.rounds_max));
}

void add_figures(std::string& html, const RunPageData& data) {
  const RunFigures& run = *data.run;
  const core::SwarmView& swarm = run.shown.swarm;
  html += "<dl>\n";
  add_held_out(html, run, "not measured yet");
  add_cell(html, "Speed", short_number(swarm.samples_per_s), "samples a second");
  add_cell(html, "Swarm", grouped(swarm.swarm_size),
           fmt::format("{}, {} training", swarm.swarm_size == 1 ? "computer" : "computers", grouped(swarm.ready)));
  const auto left = seconds_left(run.shown);
  add_cell(html, "Time left", left ? "about " + duration_text(*left) : "&ndash;", eta_note(run.shown));
  if (run.epochs) add_epochs(html, *run.epochs);
  add_cell(html, "Last 24 hours", grouped(data.activity.day.samples),
           fmt::format("samples, by {}", plural(data.activity.volunteers_day, "volunteer")));
  add_cell(html, "Accepted so far", grouped(run.totals.samples),
           fmt::format("samples, {} credit{}", short_number(credit_of(run.totals)), pending_note(run.pending)));
  html += "</dl>\n";
}

void add_progress(std::string& html, const RunPageData& data) {
  const core::SwarmView& swarm = data.run->shown.swarm;
  const bool running = swarm.state == wire::RunState::running;
  const RoundIndex rounds_max = data.run->shown.rounds_max;
  html += "<section class=\"now\" aria-label=\"Progress of the run\">\n<div class=\"line\">";
  html += fmt::format("<h2>Round {}{}</h2><span class=\"state{}\">{}</span>", grouped(swarm.round),
                      rounds_max > 0 ? fmt::format(" <small>of {}</small>", grouped(rounds_max)) : "",
                      running ? " running" : "", state_text(swarm.state));
  html += fmt::format("<span class=\"push\">{} of {} samples in this round</span></div>\n",
                      grouped(swarm.samples_accumulated), grouped(swarm.target_batch_size));
  html += fmt::format(
      "<progress max=\"{0}\" value=\"{1}\" aria-label=\"Samples gathered in this round\">{1} of {0}</progress>\n",
      std::max<SampleCount>(1, swarm.target_batch_size), swarm.samples_accumulated);
  add_figures(html, data);
  html += "</section>\n";
}

void add_join(std::string& html, const JoinAdvice& join, double bytes_per_hour) {
  html += "<section aria-labelledby=\"join\">\n<h2 id=\"join\">Take part</h2>\n";
  const std::string link = escape(join.link);
  if (join.open_to_all) {
    html += fmt::format(
        "<p>Install Starling, then open this link, or give it to <code>starling join</code>:</p>\n"
        "<p class=\"joining\"><a class=\"button\" href=\"{0}\">Join this project</a><code "
        "class=\"link\">{0}</code>{1}</p>\n",
        link, qr_code(join.link, "The join link as a QR code"));
  } else {
    html += fmt::format(
        "<p>This project takes volunteers by invitation. Ask it for a join link; a real one begins with</p>\n"
        "<p class=\"joining\"><code class=\"link\">{}</code></p>\n<p>Install Starling, then open your link, or give it "
        "to <code>starling join</code>.</p>\n",
        link);
  }
  if (bytes_per_hour >= 1) {
    html += fmt::format(
        "<p class=\"what\">At the present pace an hour of training sends about {0}, and receives as much; you can set "
        "limits.</p>\n",
        size_text(static_cast<std::int64_t>(std::min(bytes_per_hour, 1e18))));
  }
  html +=
      "<p class=\"what\">Your computer trains only when you allow it, may leave at any second, and keeps the credit "
      "of everything that was accepted and, where a run checks it, right.</p>\n</section>\n";
}

std::string paragraphs(const std::string& text) {
  std::string html;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    if (end > at) html += fmt::format("<p>{}</p>\n", escape(std::string_view(text).substr(at, end - at)));
    at = end + 2;
  }
  return html;
}

void add_news(std::string& html, const std::vector<db::News>& news) {
  if (news.empty()) return;
  html += "<section aria-labelledby=\"news\">\n<h2 id=\"news\">News</h2>\n";
  for (const db::News& item : news) {
    html += fmt::format("<article><h3>{}</h3><p class=\"what\">{}</p>\n{}</article>\n", escape(item.title),
                        utc(item.at), paragraphs(item.body));
  }
  html += "</section>\n";
}

void add_top(std::string& html, const RunFigures& run, WallTime now) {
  html += "<section aria-labelledby=\"top\">\n<h2 id=\"top\">Volunteers who give most</h2>\n";
  if (run.top.empty()) {
    html += "<p class=\"empty\">Nobody has contributed yet. The first round makes the first entry.</p>\n</section>\n";
    return;
  }
  html +=
      "<table class=\"brief\">\n<thead><tr><th scope=\"col\"><span aria-label=\"Rank\">#</span></th><th "
      "scope=\"col\">Name</th>"
      "<th scope=\"col\">Recent average</th><th scope=\"col\">Total credit</th></tr></thead>\n<tbody>\n";
  for (const db::Standing& row : run.top) {
    html += fmt::format(
        "<tr{}><td>{}</td><td><a class=\"name\" "
        "href=\"/volunteer/{}\"><bdi>{}</bdi></a></td><td>{}</td><td>{}</td></tr>\n",
        row.rank == 1 ? " class=\"first\"" : "", grouped(row.rank), row.holder_id, escape(row.display_name),
        short_number(db::decayed(row.recent, now)), short_number(credit_of(row.earned(db::Board::total))));
  }
  html += fmt::format(
      "</tbody>\n</table>\n<p class=\"more\"><a href=\"/leaderboard\">The whole leaderboard: {}</a></p>\n</section>\n",
      plural(run.volunteers, "volunteer"));
}

void add_others(std::string& html, const std::vector<OtherRun>& others) {
  if (others.empty()) return;
  html += "<section aria-labelledby=\"others\">\n<h2 id=\"others\">Other runs</h2>\n<ul class=\"list\">\n";
  for (const OtherRun& run : others) {
    html += fmt::format("<li><a href=\"/run/{}\">{}</a> <span class=\"what\">{}</span></li>\n",
                        net::url_encode(run.run_id), escape(run.title.empty() ? run.run_id : run.title), run.state);
  }
  html += "</ul>\n</section>\n";
}

std::string about(const ShownRun& run) {
  const std::string& name = run.title.empty() ? run.run_id : run.title;
  if (run.parameters == 0) return name;
  return fmt::format("{}: a neural network of {} parameters, trained by volunteers", name, grouped(run.parameters));
}

}  // namespace

void add_held_out(std::string& html, const RunFigures& run, std::string_view none) {
  if (run.evaluations.empty()) return add_cell(html, "Bits per byte", "&ndash;", none);
  const db::Evaluation& latest = run.evaluations.back();
  add_cell(html, "Bits per byte", fmt::format("{:.3f}", latest.bits_per_byte),
           fmt::format("{:.3f} at the start{}{}", run.evaluations.front().bits_per_byte,
                       latest.accuracy ? fmt::format("; {:.1f} % guessed right", 100 * *latest.accuracy) : "",
                       latest.confirmed() ? "" : "; unconfirmed: one computer measured it"));
}

std::optional<double> seconds_left(const ShownRun& run) {
  const core::SwarmView& swarm = run.swarm;
  const bool moves = swarm.state == wire::RunState::running && swarm.samples_per_s > 0;
  if (run.rounds_max == 0 || run.rounds_max <= swarm.round || !moves) return std::nullopt;
  const double samples =
      static_cast<double>(run.rounds_max - swarm.round) * static_cast<double>(swarm.target_batch_size);
  return std::max(0.0, samples - static_cast<double>(swarm.samples_accumulated)) / swarm.samples_per_s;
}

void add_epochs(std::string& html, const db::RunEpochs& epochs) {
  if (epochs.set_aside > 0) {
    add_cell(html, "Set aside", grouped(epochs.set_aside), "samples that no computer could train on");
  }
  if (!epochs.current) {
    add_cell(html, "Epochs", grouped(epochs.complete), "passes over all of the data are complete");
    return;
  }
  const db::EpochProgress& current = *epochs.current;
  add_cell(html, "Epoch", grouped(current.epoch + 1),
           fmt::format("{:.1f} % of its {} samples accepted",
                       100.0 * static_cast<double>(current.counted) / static_cast<double>(current.samples),
                       grouped(current.samples)));
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

std::string render_run_page(const RunPageData& data) {
  std::string html;
  if (data.run) {
    add_progress(html, data);
    html += loss_curve(data.run->evaluations);
  } else {
    html +=
        "<section class=\"now\"><h2>Nothing to train at the moment</h2><p class=\"empty\">The project has no run that "
        "waits for volunteers. This page fills as soon as it has.</p></section>\n";
  }
  html += "<div class=\"two\"><div>\n";
  add_join(html, data.join, data.run ? data.run->shown.bytes_per_hour : 0);
  add_news(html, data.news);
  add_others(html, data.others);
  html += "</div>\n";
  if (data.run) add_top(html, *data.run, data.now);
  html += "</div>\n";
  if (data.run) html += swarm_charts(data.run->rounds);
  const std::string subtitle = data.run ? about(data.run->shown) : "A neural network, trained by volunteers";
  return framed({.project = data.project,
                 .title = "",
                 .subtitle = subtitle,
                 .path = "/",
                 .refresh_seconds = kRefreshSeconds,
                 .now = data.now,
                 .twin = "/status.json",
                 .charts = true},
                html);
}

}  // namespace starling::web
