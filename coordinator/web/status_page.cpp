#include "coordinator/web/status_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/web/html.h"
#include "coordinator/web/page.h"
#include "shared/base/version.h"
#include "shared/wire/json_writer.h"

namespace starling::web {
namespace {

constexpr int kRefreshSeconds = 60;
constexpr std::int64_t kPartsNamed = 20;

double uptime_seconds(const StatusData& data) {
  return static_cast<double>(data.now.unix_ms - data.health.started.unix_ms) / 1000;
}

// The state is shown by word and mark, not by colour alone.
void add_service(std::string& html, std::string_view name, bool up, std::string_view note,
                 std::string_view down = "down") {
  html += fmt::format(
      "<tr><th scope=\"row\">{}</th><td><span class=\"state{}\"><span aria-hidden=\"true\">{}</span> {}</span></td>"
      "<td class=\"note\">{}</td></tr>\n",
      name, up ? " running" : "", up ? "&#10003;" : "!", up ? "up" : down, note);
}

void add_services(std::string& html, const StatusData& data) {
  const ServerHealth& health = data.health;
  html +=
      "<section class=\"now\" aria-labelledby=\"services\">\n<h2 id=\"services\">Services</h2>\n"
      "<table class=\"plain wide\"><tbody>\n";
  add_service(html, "Coordinator", true,
              fmt::format("version {}, up for {}", kVersion, duration_text(uptime_seconds(data))));
  add_service(html, "Leaderboard", health.database_reads,
              health.database_reads ? "reads the ledger" : "the database can not be read at the moment");
  add_service(html, "Crediting", health.database_writes,
              health.database_writes ? "rounds are stored as they end"
                                     : "the disk is full: nothing is lost, members keep their reports until it is not");
  const bool trains = data.run && data.run->swarm.state == wire::RunState::running;
  add_service(html, "Training", trains,
              data.run ? fmt::format("run {} is {}; {}", escape(data.run->run_id), state_text(data.run->swarm.state),
                                     data.run->swarm.ready == 1
                                         ? "1 computer trains it"
                                         : fmt::format("{} computers train it", grouped(data.run->swarm.ready)))
                       : std::string("there is no run yet"),
              "resting");
  html += "</tbody></table>\n";
  if (data.statistics) {
    html += fmt::format("<p class=\"what\"><a href=\"/stats/\">Files for statistics sites</a> were made {}.</p>\n",
                        ago(*data.statistics, data.now));
  }
  html += "</section>\n";
}

void add_swarm(std::string& html, const StatusData& data) {
  if (!data.run) return;
  const core::SwarmView& swarm = data.run->swarm;
  html += "<section aria-labelledby=\"swarm\">\n<h2 id=\"swarm\">Swarm</h2>\n<dl>\n";
  add_cell(html, "Computers", grouped(swarm.swarm_size), "heard of lately");
  add_cell(html, "Training", grouped(swarm.ready), "hold the state and compute");
  add_cell(html, "Joining", grouped(std::max(0, swarm.swarm_size - swarm.ready)), "download the state, or wait");
  add_cell(
      html, "Can be dialled", grouped(swarm.direct),
      fmt::format("{} more over a relay{}", grouped(swarm.relayed),
                  data.health.relay_bytes ? fmt::format("; {} bytes passed on here", grouped(*data.health.relay_bytes))
                                          : std::string()));
  add_cell(html, "Relied on less", grouped(swarm.less_relied_on),
           fmt::format("by what others say of them; {} sit out for some rounds", grouped(swarm.sitting_out)));
  add_cell(html, "Round", grouped(swarm.round),
           swarm.phase == core::RoundPhase::averaging
               ? "averaging now"
               : fmt::format("{} of {} samples", grouped(swarm.samples_accumulated), grouped(swarm.target_batch_size)));
  if (const core::CellCover& cells = swarm.cells; !cells.holders.empty()) {
    const auto all = static_cast<std::int64_t>(cells.holders.size());
    add_cell(html, "Parts of the model", grouped(all),
             fmt::format("{} held by {} or more, {} by nobody", grouped(cells.held_by(cells.wanted)),
                         plural(cells.wanted, "computer"), grouped(all - cells.held_by(1))));
    add_cell(html, "Calls answered", grouped(cells.calls),
             fmt::format("{:.1f} a second since the coordinator began",
                         static_cast<double>(cells.calls) / std::max(1.0, uptime_seconds(data))));
  }
  if (data.epochs) add_epochs(html, *data.epochs);
  add_cell(html, "Last round ended", data.last_round ? ago(*data.last_round, data.now) : "&ndash;",
           "as the ledger says");
  if (data.activity) {
    add_cell(html, "Active, 24 hours", grouped(data.activity->volunteers_day), "volunteers with accepted samples");
  }
  html += "</dl>\n";
  if (!swarm.plan.empty()) html += fmt::format("<p class=\"what\">The newest plan: {}.</p>\n", escape(swarm.plan));
  html += "</section>\n";
}

// "1, 2 and 17 more"; empty where none lacks holders.
std::string parts_lacking(const core::CellCover& cells) {
  std::string text;
  std::int64_t named = 0, lacking = 0;
  for (std::size_t part = 0; part < cells.holders.size(); ++part) {
    if (cells.holders[part] >= cells.wanted || ++lacking > kPartsNamed) continue;
    text += fmt::format("{}{}", ++named == 1 ? "" : ", ", part);
  }
  return lacking > named ? fmt::format("{} and {} more", text, grouped(lacking - named)) : text;
}

void add_parts(std::string& html, const StatusData& data) {
  if (!data.run || data.run->swarm.cells.holders.empty()) return;
  const core::CellCover& cells = data.run->swarm.cells;
  html +=
      "<section aria-labelledby=\"parts\">\n<h2 id=\"parts\">Who holds the model</h2>\n<p class=\"what\">No volunteer "
      "has to hold all of it: some experts of a layer are a part, which a few computers hold, and compute for the "
      "others.</p>\n";
  if (const std::string lacking = parts_lacking(cells); !lacking.empty()) {
    html +=
        fmt::format("<p class=\"what\">With fewer than {}: part {}.</p>\n", plural(cells.wanted, "computer"), lacking);
  }
  if (!data.parts_held.empty()) {
    html +=
        "<table class=\"plain\"><thead><tr><th scope=\"col\">Volunteer</th><th scope=\"col\">Parts</th><th "
        "scope=\"col\">Alone</th><th scope=\"col\">Calls answered</th></tr></thead><tbody>\n";
    for (const PartsHeld& held : data.parts_held) {
      html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", escape(held.name),
                          grouped(held.share.cells), grouped(held.share.alone), grouped(held.share.calls));
    }
    html += "</tbody></table>\n";
  }
  if (data.parts_held.size() < cells.shares.size()) {
    html += fmt::format("<p class=\"what\">And {} more.</p>\n",
                        grouped(static_cast<std::int64_t>(cells.shares.size() - data.parts_held.size())));
  }
  html += "</section>\n";
}

void write_cells(wire::JsonWriter& writer, const StatusData& data) {
  const core::CellCover& cells = data.run->swarm.cells;
  writer.open("cell_holders", '[');
  for (const int holders : cells.holders) writer.integer("", holders);
  writer.close(']');
  writer.integer("cell_holders_wanted", cells.wanted);
  writer.integer("calls_answered", cells.calls);
  writer.open("cell_shares", '[');
  for (const PartsHeld& held : data.parts_held) {
    writer.open("", '{');
    writer.text("name", held.name);
    writer.integer("computers", held.share.computers);
    writer.integer("cells", held.share.cells);
    writer.integer("alone", held.share.alone);
    writer.integer("calls", held.share.calls);
    writer.close('}');
  }
  writer.close(']');
}

}  // namespace

std::string render_status_page(const StatusData& data) {
  std::string html;
  add_services(html, data);
  add_swarm(html, data);
  add_parts(html, data);
  return framed({data.project, "Status", "", "/status", kRefreshSeconds, data.now, "/status.json"}, html);
}

std::string status_json(const StatusData& data) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("project", data.project);
  writer.text("version", kVersion);
  writer.integer("as_of_unix_ms", data.now.unix_ms);
  writer.number("uptime_s", uptime_seconds(data));
  writer.boolean("database_reads", data.health.database_reads);
  writer.boolean("database_writes", data.health.database_writes);
  writer.integer("connections", data.health.connections);
  writer.integer("requests", data.health.requests);
  writer.integer("database_bytes", data.health.database_bytes);
  if (data.maintenance) {
    writer.open("maintenance", '{');
    writer.text("message", data.maintenance->message);
    if (data.maintenance->until) writer.integer("until_unix_ms", data.maintenance->until->unix_ms);
    writer.close('}');
  }
  if (data.last_round) writer.integer("last_round_unix_ms", data.last_round->unix_ms);
  if (data.activity) {
    writer.integer("volunteers_24h", data.activity->volunteers_day);
    writer.integer("samples_24h", data.activity->day.samples);
  }
  if (data.statistics) writer.integer("statistics_unix_ms", data.statistics->unix_ms);
  if (data.run) {
    const core::SwarmView& swarm = data.run->swarm;
    writer.open("run", '{');
    writer.text("run_id", data.run->run_id);
    writer.text("state", wire::to_string(swarm.state));
    writer.integer("round", swarm.round);
    writer.integer("rounds_max", data.run->rounds_max);
    writer.integer("samples_accumulated", swarm.samples_accumulated);
    writer.integer("target_batch_size", swarm.target_batch_size);
    writer.number("samples_per_s", swarm.samples_per_s);
    writer.integer("computers", swarm.swarm_size);
    writer.integer("training", swarm.ready);
    writer.integer("direct", swarm.direct);
    writer.integer("relayed", swarm.relayed);
    writer.integer("less_relied_on", swarm.less_relied_on);
    writer.integer("sitting_out", swarm.sitting_out);
    writer.text("plan", swarm.plan);
    if (!swarm.cells.holders.empty()) write_cells(writer, data);
    if (data.epochs) {
      writer.integer("epochs_complete", data.epochs->complete);
      writer.integer("samples_set_aside", data.epochs->set_aside);
      if (data.epochs->current) {
        writer.integer("epoch", data.epochs->current->epoch);
        writer.integer("epoch_samples", data.epochs->current->samples);
        writer.integer("epoch_accepted", data.epochs->current->counted);
      }
    }
    if (data.health.relay_bytes) writer.integer("relay_bytes", *data.health.relay_bytes);
    if (const auto left = seconds_left(*data.run)) writer.number("seconds_left", *left);
    writer.close('}');
  }
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace starling::web
