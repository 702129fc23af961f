#include "coordinator/web/past_run_page.h"

#include <fmt/core.h>

#include "coordinator/web/credit_page.h"
#include "coordinator/web/html.h"
#include "coordinator/web/loss_curve.h"
#include "coordinator/web/page.h"
#include "coordinator/web/swarm_charts.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/run/model_layout.h"

namespace starling::web {
namespace {

void add_figures(std::string& html, const PastRunData& data) {
  const RunFigures& run = data.run;
  html += "<dl>\n";
  add_held_out(html, run, "not measured");
  add_cell(html, "Rounds", grouped(run.shown.swarm.round),
           run.shown.rounds_max > 0 ? fmt::format("of {} planned", grouped(run.shown.rounds_max)) : "without a plan");
  if (run.epochs) add_epochs(html, *run.epochs);
  add_cell(html, "Accepted", grouped(run.totals.samples),
           fmt::format("samples, {} credit{}", short_number(credit_of(run.totals)), pending_note(run.pending)));
  add_cell(html, "Volunteers", grouped(run.volunteers), "trained it");
  html += "</dl>\n";
}

void add_volunteers(std::string& html, const RunFigures& run) {
  html += "<section aria-labelledby=\"top\">\n<h2 id=\"top\">Who trained it</h2>\n";
  if (run.top.empty()) {
    html += "<p class=\"empty\">Nobody has contributed to this run.</p>\n</section>\n";
    return;
  }
  html +=
      "<table class=\"brief\">\n<thead><tr><th scope=\"col\"><span aria-label=\"Rank\">#</span></th><th "
      "scope=\"col\">Name</th><th scope=\"col\">Samples</th><th scope=\"col\">Credit</th></tr></thead>\n<tbody>\n";
  for (const db::Standing& row : run.top) {
    html += fmt::format(
        "<tr{}><td>{}</td><td><a class=\"name\" "
        "href=\"/volunteer/{}\"><bdi>{}</bdi></a></td><td>{}</td><td>{}</td></tr>\n",
        row.rank == 1 ? " class=\"first\"" : "", grouped(row.rank), row.holder_id, escape(row.display_name),
        grouped(row.earned(db::Board::run).samples), short_number(credit_of(row.earned(db::Board::run))));
  }
  html += "</tbody>\n</table>\n";
  if (const auto more = run.volunteers - static_cast<std::int64_t>(run.top.size()); more > 0) {
    html += fmt::format("<p class=\"what\">and {}</p>\n", plural(more, "other volunteer"));
  }
  html += "</section>\n";
}

}  // namespace

std::string_view state_text(const db::Run& run) {
  if (run.retired.unix_ms != 0) return "over";
  switch (run.state) {
    case db::RunState::running:
      return "training";
    case db::RunState::complete:
      return "complete";
    case db::RunState::paused:
      break;
  }
  return run.round == 0 ? "not started yet" : "paused";
}

Result<ShownRun> read_past_run(const db::Run& run) {
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
  STARLING_ASSIGN(const wire::RunManifest manifest, wire::decode_manifest(envelope.json));
  ShownRun shown{manifest.run_id,
                 manifest.title,
                 {},
                 manifest.rounds_max,
                 manifest.flops_per_sample,
                 static_cast<std::int64_t>(wire::parameter_count(manifest.model))};
  shown.swarm.round = run.round;
  shown.swarm.target_batch_size = manifest.target_batch_size;
  return shown;
}

std::string render_past_run(const PastRunData& data) {
  const ShownRun& shown = data.run.shown;
  std::string html = "<section class=\"now\" aria-label=\"The run\">\n<div class=\"line\">";
  html += fmt::format("<h2>{}</h2><span class=\"state\">{}</span>", escape(shown.run_id), data.state);
  html += fmt::format("<span class=\"push\">{}{}</span></div>\n", utc(data.created).substr(0, 10),
                      data.retired ? " to " + utc(*data.retired).substr(0, 10) : " until today");
  add_figures(html, data);
  html += "</section>\n";
  html += loss_curve(data.run.evaluations);
  if (data.retired && !data.run.top.empty()) {
    html += "<p class=\"what\">This run is over. Thank you: every credit that it gave stays.</p>\n";
  }
  add_volunteers(html, data.run);
  html += swarm_charts(data.run.rounds);
  const std::string subtitle =
      fmt::format("A neural network of {} parameters, trained by volunteers", grouped(shown.parameters));
  return framed({.project = data.project,
                 .title = shown.title.empty() ? shown.run_id : shown.title,
                 .subtitle = subtitle,
                 .now = data.now,
                 .charts = true},
                html);
}

}  // namespace starling::web
