#include "client/cli/doctor.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "shared/base/shell_words.h"
#include "shared/wire/json_writer.h"

namespace starling::cli {
namespace {

constexpr double kGigabyte = 1e9;

struct LogCount {
  int warnings = 0;
  int errors = 0;
  std::string last_error;
};

// Counts lines of the form "2026-11-21 03:21:21.123 E words" by level (shared/base/log.h).
LogCount count_log(std::string_view log) {
  constexpr std::size_t kLevelAt = 24;
  LogCount count;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.size() <= kLevelAt + 2 || line[kLevelAt - 1] != ' ' || line[kLevelAt + 1] != ' ') continue;
    if (line[kLevelAt] == 'W') ++count.warnings;
    if (line[kLevelAt] != 'E' && line[kLevelAt] != 'C') continue;
    ++count.errors;
    count.last_error = line;
  }
  return count;
}

Finding of_daemon(const Facts& facts) {
  if (facts.no_daemon) {
    return {Health::bad, "daemon", facts.no_daemon->message, "start it, and ask again"};
  }
  if (facts.status.version != facts.own_version) {
    return {Health::note, "daemon",
            fmt::format("it runs version {}, this command is {}", facts.status.version, facts.own_version),
            "starling stop, and start it again"};
  }
  return {Health::good, "daemon", fmt::format("version {} runs and answers", facts.status.version), ""};
}

Finding of_project(const wire::DaemonStatus& s) {
  if (s.membership.project.empty())
    return {Health::bad, "project", "none was joined", "starling join LINK --name NAME"};
  if (s.membership.coordinator_away) {
    return {Health::note, "project",
            fmt::format("the coordinator of '{}' cannot be reached; it is tried again", s.membership.project),
            "check this computer's network; the project may be down for a while"};
  }
  return {Health::good, "project", fmt::format("'{}', as {}", s.membership.project, s.membership.display_name), ""};
}

Finding of_training(const wire::DaemonStatus& s) {
  if (s.reason.empty()) return {Health::good, "training", std::string(wire::to_string(s.phase)), ""};
  std::string text = fmt::format("{}: {}", wire::to_string(s.phase), s.reason);
  if (!s.ends_when.empty()) text += fmt::format(", until {}", s.ends_when);
  std::string to_do = s.rules.action;
  if (!s.rules.action_command.empty()) to_do += ": starling " + s.rules.action_command;
  return {Health::note, "training", std::move(text), std::move(to_do)};
}

Finding of_reach(const wire::DaemonStatus& s) {
  if (s.reach.reachability == "reachable") return {Health::good, "network", "others can call this computer", ""};
  if (s.reach.reachability != "blocked")
    return {Health::note, "network", "not known yet whether others can call it", ""};
  const bool relayed = !s.reach.relay.is_zero();
  return {relayed ? Health::good : Health::note, "network",
          relayed ? "others call this computer over a relay" : "others cannot call this computer; it calls them",
          fmt::format("full credit all the same; for more speed let your router forward TCP port {}",
                      s.membership.listen_port)};
}

Finding of_device(const wire::ComputingStatus& computing) {
  if (computing.device) return {Health::good, "device", "it computes on " + wire::to_text(*computing.device), ""};
  return {Health::note, "device", "it is not known what computes, since the trainer has not started yet", ""};
}

Finding of_graphics(const wire::DaemonStatus& s) {
  const std::optional<wire::ComputeDevice>& device = s.computing.device;
  const bool on_card = device && !device->is_processor();
  if (!on_card && !s.rules.gpu_present) return {Health::note, "graphics", "no card that can train was found", ""};
  if (device && !device->card_unused.empty()) {
    return {Health::note, "graphics", "there is a card; not used: " + device->card_unused, ""};
  }
  if (!s.rules.gpu) return {Health::note, "graphics", "there is a card; not used now: " + s.rules.gpu_reason, ""};
  if (on_card) {
    const bool trains = s.computing.trainer == "running";
    return {Health::good, "graphics", trains ? "there is a card, and it trains" : "there is a card; it trained last",
            ""};
  }
  return {Health::note, "graphics", "there is a card; the trainer will say whether it can use it", ""};
}

Finding of_disk(const Facts& facts) {
  if (!facts.disk_free_bytes) return {Health::note, "disk", "cannot be looked at", ""};
  const double free_gb = static_cast<double>(*facts.disk_free_bytes) / kGigabyte;
  const bool low = free_gb < facts.preferences.storage.disk_free_min_gb;
  return {low ? Health::bad : Health::good, "disk", fmt::format("{:.1f} GB are free", free_gb),
          low ? fmt::format("free some, or leave less than {} GB of it free: starling prefs set disk_free_min_gb GB",
                            facts.preferences.storage.disk_free_min_gb)
              : ""};
}

Finding of_proxy(const std::string& variable) {
  return {Health::note, "proxy",
          variable + " is set, and ignored: a proxy cannot be used, since both ends prove who they are to each other",
          "where only a proxy leads out, ask for a direct way to the coordinator's port"};
}

Finding of_log(const std::string& log) {
  const LogCount count = count_log(log);
  const std::string text = fmt::format("{} errors and {} warnings in its newest lines", count.errors, count.warnings);
  if (count.errors == 0) return {Health::good, "log", text, ""};
  return {Health::note, "log", text + "; the last: " + count.last_error, "starling log"};
}

std::string_view word(Health health) {
  switch (health) {
    case Health::good:
      return "good";
    case Health::note:
      return "note";
    case Health::bad:
      return "bad";
  }
  return "";
}

}  // namespace

std::vector<Finding> examine(const Facts& facts) {
  std::vector<Finding> findings;
  if (facts.others_may_look) {
    findings.push_back({Health::bad, "files",
                        fmt::format("other users may look into '{}', where keys are", facts.data_dir),
                        "chmod 700 " + shell_word(facts.data_dir)});
  }
  findings.push_back(of_daemon(facts));
  if (!facts.no_daemon) {
    const wire::DaemonStatus& status = facts.status;
    findings.push_back(of_project(status));
    for (const std::string& problem : status.problems) findings.push_back({Health::bad, "problem", problem, ""});
    if (!status.membership.project.empty()) {
      findings.push_back(of_training(status));
      findings.push_back(of_reach(status));
      findings.push_back(of_device(status.computing));
    }
    findings.push_back(of_graphics(status));
    for (const std::string& unknown : status.rules.unknown) {
      findings.push_back({Health::note, "sensors",
                          fmt::format("{}: no sensor tells here, so rules about it do not apply", unknown), ""});
    }
  }
  if (!facts.proxy_variable.empty()) findings.push_back(of_proxy(facts.proxy_variable));
  findings.push_back(of_disk(facts));
  findings.push_back(of_log(facts.log));
  return findings;
}

bool is_well(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.health == Health::bad; });
}

std::string format_findings(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const char* mark = finding.health == Health::good ? "ok  " : finding.health == Health::note ? "note" : "BAD ";
    text += fmt::format("{}  {:<9} {}\n", mark, finding.about, finding.text);
    if (!finding.to_do.empty()) text += fmt::format("                to do: {}\n", finding.to_do);
  }
  return text + (is_well(findings) ? "Nothing is wrong here.\n" : "Something is wrong: see BAD above.\n");
}

std::string format_findings_json(const std::vector<Finding>& findings) {
  wire::JsonWriter out;
  out.open("", '{');
  out.boolean("ok", is_well(findings));
  out.open("findings", '[');
  for (const Finding& finding : findings) {
    out.open("", '{');
    out.text("health", word(finding.health));
    out.text("about", finding.about);
    out.text("text", finding.text);
    out.text("to_do", finding.to_do);
    out.close('}');
  }
  out.close(']');
  out.close('}');
  return out.str() + "\n";
}

}  // namespace starling::cli
