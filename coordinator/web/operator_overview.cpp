// An operator's first page: what needs attention, current activity, runs, maintenance.
#include <fmt/core.h>

#include "coordinator/web/fields.h"
#include "coordinator/web/html.h"
#include "coordinator/web/operator_frame.h"
#include "coordinator/web/operator_pages.h"
#include "shared/net/url.h"

namespace starling::web {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kBackupOldMs = 36 * kHourMs;
constexpr std::int64_t kCertificateSoonMs = 14 * 24 * kHourMs;
constexpr std::int64_t kRoundOldMs = kHourMs;

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

void add_run_problems(std::vector<std::string>& problems, const OverviewPage& page) {
  const WallTime now = page.frame.form.now;
  if (page.runs.empty()) {
    problems.emplace_back("There is no run: make one with <code>run create</code>.");
    return;
  }
  if (!page.server.run || page.server.run->swarm.state != wire::RunState::running) {
    problems.emplace_back("No run is running, so nobody trains.");
    return;
  }
  const core::SwarmView& swarm = page.server.run->swarm;
  if (page.server.failing.count > 0) {
    problems.push_back(fmt::format("{}.", escape(capitalized(core::failing_text(page.server.failing)))));
  }
  if (swarm.ready == 0) {
    problems.emplace_back("The run is running, but no computer trains it.");
  } else if (page.last_round && now.unix_ms - page.last_round->unix_ms > kRoundOldMs) {
    problems.push_back(fmt::format("The last round ended {}.", ago(*page.last_round, now)));
  }
  if (swarm.sitting_out > 0) {
    problems.push_back(
        fmt::format("{} left out of rounds for what others say of it; who and why: the server's log.",
                    swarm.sitting_out == 1 ? "1 computer is" : fmt::format("{} computers are", swarm.sitting_out)));
  }
}

void add_now(std::string& html, const OverviewPage& page) {
  const ServerHealth& health = page.server.health;
  const WallTime now = page.frame.form.now;
  html += "<section>\n<h2>At this moment</h2>\n<dl>\n";
  if (page.server.run) {
    const core::SwarmView& swarm = page.server.run->swarm;
    add_cell(html, "Computers", grouped(swarm.swarm_size), fmt::format("{} train", grouped(swarm.ready)));
    add_cell(html, "Samples a second", short_number(swarm.samples_per_s), "of all together");
    add_cell(html, "Round", grouped(swarm.round),
             page.last_round ? "the last one ended " + ago(*page.last_round, now) : "none has ended yet");
  }
  add_cell(html, "Volunteers, 24 hours", grouped(page.activity.volunteers_day), "with accepted samples");
  add_cell(html, "Database", fmt::format("{:.1f} MB", static_cast<double>(health.database_bytes) / 1e6),
           page.server.last_backup ? "backed up " + ago(*page.server.last_backup, now) : "never backed up");
  add_cell(html, "Up for", duration_text(static_cast<double>(now.unix_ms - health.started.unix_ms) / 1000),
           plural(health.connections, "connection"));
  html += "</dl>\n</section>\n";
}

void add_devices(std::string& html, const core::DevicesInUse& devices) {
  const std::vector<std::string> lines = core::device_lines(devices);
  if (lines.empty()) return;
  html += "<section>\n<h2>What computes</h2>\n<ul class=\"list\">\n";
  for (const std::string& line : lines) html += fmt::format("<li><div>{}</div></li>\n", escape(line));
  html += "</ul>\n</section>\n";
}

// Kinds of computers whose work was checked: one that is wrong often may have a broken driver.
void add_classes(std::string& html, const std::vector<core::ClassFigures>& classes) {
  if (classes.empty()) return;
  html += "<p class=\"what\">Kinds of computers, by their arithmetic:</p>\n<ul class=\"list\">\n";
  for (const core::ClassFigures& one : classes) {
    const std::string apart =
        one.distance > 0 ? fmt::format(", honest ones within {:.0e} of each other", one.distance) : "";
    html +=
        fmt::format("<li><div>{}{}<small>{} right, {} wrong{}; differences up to {:.0e} are borne</small></div></li>\n",
                    escape(one.name), one.is_suspicious() ? " <b>is wrong often</b>" : "", grouped(one.right),
                    grouped(one.wrong), apart, one.tolerance);
  }
  html += "</ul>\n";
}

void add_misses(std::string& html, const OverviewPage& page) {
  if (page.missed.empty()) return;
  html += "<ul class=\"list\">\n";
  for (const auto& [check, name] : page.missed) {
    const std::string who =
        name.empty() ? "A computer without a name"
                     : fmt::format("<a href=\"/people?sought={}\">{}</a>", net::url_encode(name), escape(name));
    html += fmt::format("<li><div>{}, {}<small>round {} of {}: wrong {}. Check {}</small></div></li>\n", who,
                        ago(check.at, page.frame.form.now), grouped(check.round), escape(check.run_id),
                        escape(check.why), check.id);
  }
  html += "</ul>\n";
}

// Nothing where no run's work is checked.
void add_checks(std::string& html, const OverviewPage& page) {
  const db::CheckSums& sums = page.checks;
  if (sums.checked() + sums.unchecked == 0 && page.pending.credit == 0) return;
  html += "<section>\n<h2>Work checks</h2>\n<dl>\n";
  add_cell(html, "Checked", grouped(sums.checked()), "by computing it again");
  add_cell(html, "Missed", grouped(sums.missed), sums.missed == 0 ? "all work was right" : "the work was wrong");
  add_cell(html, "Not checked", grouped(sums.unchecked), "nobody could in time");
  add_cell(html, "Pending credit", short_number(credit_of(page.pending)), "final after some rounds");
  html += "</dl>\n";
  add_misses(html, page);
  add_classes(html, page.server.classes);
  html += "<p class=\"what\">All of them: <code>audit list --missed</code>; by whom: <code>audit show</code>.</p>\n";
  html += "</section>\n";
}

void add_run(std::string& html, const OverviewPage& page, const db::Run& run) {
  const std::string which = hidden("run", run.run_id);
  const bool running = run.state == db::RunState::running;
  const std::string_view state = running ? "running" : run.state == db::RunState::paused ? "paused" : "complete";
  html += fmt::format("<li><div><b>{}</b> <span class=\"state{}\">{}</span><small>round {}, made {}</small></div><div>",
                      escape(run.run_id), running ? " running" : "", state, grouped(run.round), utc(run.created));
  if (running) html += act_button(page.frame, "pause", which, "Pause", run.run_id);
  if (run.state == db::RunState::paused) html += act_button(page.frame, "start", which, "Start", run.run_id);
  html += "</div>";
  if (!running && may(page.frame, "retire")) {
    html += fmt::format(
        "<details><summary>Retire</summary><p>For good: it is on no list, and nobody new is given it. Its page and its "
        "credit stay.</p>{}</details>",
        act_button(page.frame, "retire", which, fmt::format("Retire {}", escape(run.run_id))));
  }
  html += "</li>\n";
}

void add_runs(std::string& html, const OverviewPage& page) {
  html += "<section>\n<h2>Runs</h2>\n";
  if (page.runs.empty()) html += "<p class=\"empty\">None yet.</p>\n";
  if (!page.runs.empty()) html += "<ul class=\"list\">\n";
  for (const db::Run& run : page.runs) add_run(html, page, run);
  if (!page.runs.empty()) html += "</ul>\n";
  html += "</section>\n";
}

void add_maintenance(std::string& html, const OverviewPage& page) {
  const std::string& token = page.frame.form.token;
  html += "<section>\n<h2>Maintenance</h2>\n";
  if (page.maintenance) {
    html += fmt::format("<p>Volunteers are told: {}</p>\n{}\n", escape(operations::notice_of(*page.maintenance)),
                        act_button(page.frame, "serve-again", "", "It is over"));
  } else if (!may(page.frame, "maintenance")) {
    html += "<p class=\"empty\">None.</p>\n";
  } else {
    html +=
        "<p class=\"what\">Newcomers and changes of accounts wait, and every page says why. Computers that train go "
        "on.</p>\n" +
        form_to("/do/maintenance", token);
    const std::string message = page.typed.value("message");
    html += field({.name = "message", .label = "Why", .value = message, .more = "maxlength=\"400\""});
    const std::string hours = page.typed.value("hours");
    html += field({.name = "hours",
                   .label = "For about so many hours",
                   .type = "number",
                   .value = hours,
                   .hint = "Empty: not known.",
                   .more = "min=\"1\" max=\"720\""});
    html += "<p class=\"send\"><button>Begin</button></p></form>\n";
  }
  html += "</section>\n";
}

}  // namespace

std::vector<std::string> needs_attention(const OverviewPage& page) {
  std::vector<std::string> problems;
  const WallTime now = page.frame.form.now;
  const ServerView& server = page.server;
  if (!server.health.database_writes) problems.emplace_back("The disk is full: rounds can not be credited.");
  if (page.waiting > 0) {
    problems.push_back(fmt::format("<a href=\"/people\">{}</a>: they wait for you.",
                                   plural(static_cast<std::int64_t>(page.waiting), "sign-up")));
  }
  add_run_problems(problems, page);
  if (!server.backup_failure.empty()) {
    problems.push_back(fmt::format("The last backup failed: {}.", escape(server.backup_failure)));
  } else if (!server.last_backup) {
    problems.emplace_back("There is no backup: <code>backup schedule</code>.");
  } else if (now.unix_ms - server.last_backup->unix_ms > kBackupOldMs) {
    problems.push_back(fmt::format("The last backup was made {}.", ago(*server.last_backup, now)));
  }
  if (server.certificate_ends.unix_ms - now.unix_ms < kCertificateSoonMs) {
    problems.push_back(fmt::format("The server's certificate ends at {}: restart it, and it makes a new one.",
                                   utc(server.certificate_ends)));
  }
  return problems;
}

std::string render_overview(const OverviewPage& page) {
  const std::vector<std::string> problems = needs_attention(page);
  std::string html = first_section(page.frame, "Needs attention");
  if (problems.empty()) html += "<p class=\"empty\">Nothing: all is well.</p>\n";
  if (!problems.empty()) html += "<ul class=\"list\">\n";
  for (const std::string& problem : problems) html += fmt::format("<li><div>{}</div></li>\n", problem);
  if (!problems.empty()) html += "</ul>\n";
  html += "</section>\n";
  add_now(html, page);
  add_devices(html, page.server.devices);
  add_checks(html, page);
  html += "<div class=\"two\">\n";
  add_runs(html, page);
  add_maintenance(html, page);
  html += "</div>\n";
  return framed_for(page.frame, "Overview", "/", html);
}

}  // namespace starling::web
