#include "coordinator/server/metrics.h"

#include <fmt/core.h>

#include "coordinator/api/responses.h"
#include "shared/base/version.h"

namespace starling::server {
namespace {

class Text {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = fmt::format("starling_{}", name);
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name_, help, type);
  }
  // `labels` is empty or includes its braces.
  void value(double value, std::string_view labels = "", std::string_view suffix = "") {
    text_ += fmt::format("{}{}{} {}\n", name_, suffix, labels, value);
  }
  void one(std::string_view name, std::string_view type, std::string_view help, double number) {
    begin(name, type, help);
    value(number);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

// Members name their kind themselves.
std::string label_text(std::string_view word) {
  std::string text;
  for (const char letter : word) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter == '\n' ? ' ' : letter;
  }
  return text;
}

void add_requests(Text& text, const gate::Router& router) {
  const std::vector<gate::RouteFigures> routes = router.figures();
  text.begin("http_requests_total", "counter", "Requests answered, by route and status.");
  for (const gate::RouteFigures& route : routes) {
    for (const auto& [status, count] : route.by_status) {
      text.value(static_cast<double>(count), fmt::format("{{route=\"{}\",code=\"{}\"}}", route.name, status));
    }
  }
  text.begin("http_request_seconds", "histogram", "Time in the handler, by route.");
  for (const gate::RouteFigures& route : routes) {
    std::int64_t below = 0;
    for (std::size_t i = 0; i < gate::kLatencyBounds.size(); ++i) {
      below += route.by_latency[i];
      text.value(static_cast<double>(below),
                 fmt::format("{{route=\"{}\",le=\"{}\"}}", route.name, to_seconds(gate::kLatencyBounds[i])), "_bucket");
    }
    const auto all = static_cast<double>(below + route.by_latency.back());
    text.value(all, fmt::format("{{route=\"{}\",le=\"+Inf\"}}", route.name), "_bucket");
    text.value(to_seconds(route.time), fmt::format("{{route=\"{}\"}}", route.name), "_sum");
    text.value(all, fmt::format("{{route=\"{}\"}}", route.name), "_count");
  }
}

void add_gate(Text& text, const gate::GateStats& stats) {
  text.one("connections", "gauge", "Open connections.", static_cast<double>(stats.connections_open));
  text.one("connections_accepted_total", "counter", "Connections accepted.",
           static_cast<double>(stats.connections_accepted));
  text.one("connections_refused_total", "counter", "Connections refused by a limit.",
           static_cast<double>(stats.connections_refused));
  text.one("connections_timed_out_total", "counter", "Connections closed because they were slow or silent.",
           static_cast<double>(stats.connections_timed_out));
  text.one("handshakes_failed_total", "counter", "TLS handshakes that failed.",
           static_cast<double>(stats.handshakes_failed));
  text.one("requests_refused_total", "counter", "Requests refused before a handler saw them.",
           static_cast<double>(stats.requests_refused));
  text.one("requests_overload_total", "counter", "Requests answered 503 because the queue was full.",
           static_cast<double>(stats.requests_overload));
}

void add_swarm(Text& text, const Observed& observed) {
  const auto served = observed.run.served();
  if (!served) return;
  const core::SwarmView& swarm = served->swarm;
  text.begin("peers", "gauge", "Computers of the swarm, by state.");
  text.value(swarm.ready, "{state=\"training\"}");
  text.value(std::max(0, swarm.swarm_size - swarm.ready), "{state=\"joining\"}");
  text.one("peers_computing", "gauge", "Computers of the swarm that should compute, by their own word.",
           served->failing.of);
  text.one("peers_failing", "gauge", "Computers among these whose trainers fail.", served->failing.count);
  text.begin("peers_computing_on", "gauge", "Computers that should compute, by what their trainers compute on.");
  text.value(served->device_sums.on_processors, "{device=\"processor\"}");
  text.value(served->device_sums.on_cards, "{device=\"card\"}");
  text.value(served->device_sums.untold, "{device=\"untold\"}");
  text.begin("peers_reach", "gauge", "Computers of the swarm that others can call, by how.");
  text.value(swarm.direct, "{how=\"direct\"}");
  text.value(swarm.relayed, "{how=\"relay\"}");
  if (const core::CellCover& cells = swarm.cells; !cells.holders.empty()) {
    const auto all = static_cast<std::int64_t>(cells.holders.size());
    text.begin("cells", "gauge", "Cells of the run's model, by how many computers hold them.");
    text.value(static_cast<double>(cells.held_by(cells.wanted)), "{holders=\"enough\"}");
    text.value(static_cast<double>(cells.held_by(1) - cells.held_by(cells.wanted)), "{holders=\"few\"}");
    text.value(static_cast<double>(all - cells.held_by(1)), "{holders=\"none\"}");
  }
  text.one("run_running", "gauge", "1 while the run trains.", swarm.state == wire::RunState::running ? 1 : 0);
  text.one("run_round", "gauge", "Round being worked on.", static_cast<double>(swarm.round));
  text.one("round_samples", "gauge", "Samples gathered in this round.", static_cast<double>(swarm.samples_accumulated));
  text.one("samples_per_second", "gauge", "Samples that the swarm computes in a second.", swarm.samples_per_s);
  if (const auto credited = observed.database.stores().credit.standings.credited(served->manifest.run_id)) {
    text.one("samples_accepted_total", "counter", "Samples in the run's ledger.",
             static_cast<double>(credited->totals.samples));
  }
  const auto rounds = observed.database.stores().training.runs.rounds(served->manifest.run_id, {.limit = 1});
  if (!rounds || rounds->empty()) return;
  text.one("round_seconds", "gauge", "Time that the last round's averaging took.",
           static_cast<double>(rounds->front().duration_ms) / 1000);
  text.one("round_participants", "gauge", "Members that averaged the last round to its end.",
           rounds->front().survivors);
  text.one("round_last_timestamp_seconds", "gauge", "When the last round was credited.",
           static_cast<double>(rounds->front().decided_at.unix_ms) / 1000);
}

// Over all runs, also those that are not served.
void add_checks(Text& text, const db::CreditStores& credit, const api::RunService& run) {
  if (const auto sums = credit.checks.sums("")) {
    text.begin("work_checks_total", "counter", "Checks of volunteers' work, by what they found.");
    text.value(static_cast<double>(sums->clean), "{found=\"right\"}");
    text.value(static_cast<double>(sums->missed), "{found=\"wrong\"}");
    text.value(static_cast<double>(sums->unchecked), "{found=\"nothing\"}");
  }
  if (const auto credited = credit.standings.credited("")) {
    text.one("credit_pending", "gauge", "Credit that is not final yet.", db::credit_of(credited->pending));
  }
  const std::vector<core::ClassFigures> classes = run.numeric_classes();
  if (classes.empty()) return;
  text.begin("work_checks_of_class", "gauge", "Checks by kind of computer, since the server started.");
  for (const core::ClassFigures& one : classes) {
    const std::string label = label_text(one.name);
    text.value(static_cast<double>(one.right), fmt::format("{{class=\"{}\",found=\"right\"}}", label));
    text.value(static_cast<double>(one.wrong), fmt::format("{{class=\"{}\",found=\"wrong\"}}", label));
  }
  text.begin("work_distance", "gauge",
             "How far apart honest computers' gradients are, by kind: 99.9 % of them, relative.");
  for (const core::ClassFigures& one : classes) {
    text.value(one.distance, fmt::format("{{class=\"{}\"}}", label_text(one.name)));
  }
}

void add_relay(Text& text, const reach::RelayServer* relay) {
  if (relay == nullptr) return;
  const reach::RelayStats stats = relay->stats();
  text.one("relay_clients", "gauge", "Computers that wait at the relay for calls.", static_cast<double>(stats.posts));
  text.one("relay_streams", "gauge", "Pairs of computers that the relay connects.", static_cast<double>(stats.streams));
  text.one("relay_streams_total", "counter", "Pairs connected since the start.",
           static_cast<double>(stats.streams_total));
  text.one("relay_bytes_total", "counter", "Bytes passed on, both ways.", static_cast<double>(stats.bytes_total));
  text.one("relay_refused_total", "counter", "Calls and clients refused.", static_cast<double>(stats.refused_total));
  text.one("relay_cut_total", "counter", "Pairs cut because their round's bytes were used up.",
           static_cast<double>(stats.cut_total));
}

void add_database(Text& text, const Observed& observed) {
  const db::DatabaseHealth health = observed.database.health();
  text.one("db_bytes", "gauge", "Size of the database.", static_cast<double>(health.file_bytes));
  text.one("db_wal_bytes", "gauge", "Size of its write-ahead log.", static_cast<double>(health.wal_bytes));
  text.one("db_commits_total", "counter", "Commits since the start.", static_cast<double>(health.commits));
  text.one("db_writes_total", "counter", "Writes in those commits.", static_cast<double>(health.writes));
  text.one("db_disk_full", "gauge", "1 while the disk is full.", health.disk_full ? 1 : 0);
  if (const auto backup = last_backup(observed.project.files)) {
    text.one("backup_last_success_timestamp_seconds", "gauge", "When the project was last backed up.",
             static_cast<double>(backup->at.unix_ms) / 1000);
  }
  const BackupState state = observed.backups.state();
  text.one("backup_failures_total", "counter", "Scheduled backups that failed.", static_cast<double>(state.failures));
  text.one("backup_failing", "gauge", "1 when the last scheduled backup failed.", state.failure.empty() ? 0 : 1);
}

}  // namespace

std::string metrics_text(const Observed& observed) {
  Text text;
  text.begin("build_info", "gauge", "The version that runs.");
  text.value(1, fmt::format("{{version=\"{}\"}}", kVersion));
  text.one("start_timestamp_seconds", "gauge", "When the coordinator started.",
           static_cast<double>(observed.started.unix_ms) / 1000);
  text.one("tls_not_after_timestamp_seconds", "gauge", "When the coordinator's certificate ends.",
           static_cast<double>(observed.certificate_ends.unix_ms) / 1000);
  text.one("ready", "gauge", "1 while the coordinator can do its work.", ready(observed).ok() ? 1 : 0);
  text.one("leads", "gauge", "1 in the one of a project's coordinators that hears heartbeats and plans rounds.",
           observed.leadership.leads() ? 1 : 0);
  add_requests(text, observed.router);
  add_gate(text, observed.gate.stats());
  add_swarm(text, observed);
  add_checks(text, observed.database.stores().credit, observed.run);
  add_relay(text, observed.relay);
  add_database(text, observed);
  return text.take();
}

Status ready(const Observed& observed) {
  STARLING_TRY(observed.database.stores().training.runs.list().status());
  if (!observed.database.health().disk_full) return {};
  return Error{ErrorCode::unavailable, "the disk is full: rounds can not be credited until there is space"};
}

void add_admin_routes(gate::Router& router, const Observed& observed) {
  router.add("GET", "/healthz", [](const gate::Request&) { return api::json_response("{\"ok\":true}"); });
  router.add("GET", "/readyz", [&observed](const gate::Request&) {
    const Status status = ready(observed);
    return status.ok() ? api::json_response("{\"ok\":true}")
                       : api::error_response({ErrorCode::unavailable, status.error().message});
  });
  router.add("GET", "/metrics", [&observed](const gate::Request&) {
    gate::Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = metrics_text(observed);
    return response;
  });
}

}  // namespace starling::server
