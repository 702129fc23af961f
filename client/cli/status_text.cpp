#include "client/cli/status_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace starling::cli {
namespace {

std::string sentence(const wire::DaemonStatus& s) {
  if (s.phase == wire::DaemonPhase::training) return "Training";
  std::string text(wire::to_string(s.phase));
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  if (!s.reason.empty()) text += ": " + s.reason;
  if (!s.ends_when.empty()) text += fmt::format(" (until {})", s.ends_when);
  return text;
}

double round_fraction(const wire::DaemonStatus& s) {
  if (s.swarm.target_batch_size <= 0) return 0;
  return static_cast<double>(s.swarm.samples_accumulated) / static_cast<double>(s.swarm.target_batch_size);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Lines with the action that the volunteer can take about the reason, and with the present request.
std::string action_lines(const wire::RulesStatus& rules) {
  std::string text;
  if (!rules.action.empty()) {
    text += "  to do      " + rules.action;
    if (!rules.action_command.empty()) text += ": starling " + rules.action_command;
    text += "\n";
  }
  if (rules.pause_after_round) text += "  wish       pausing after this round\n";
  return text;
}

// Lines with what computes, and with the reason why a graphics card does not.
std::string device_lines(const wire::DaemonStatus& s) {
  const std::optional<wire::ComputeDevice>& device = s.computing.device;
  std::string text = device ? fmt::format("  device     {}\n", wire::to_text(*device))
                            : "  device     not known yet: the trainer has not started\n";
  std::string unused = device ? device->card_unused : "";
  if (unused.empty() && s.rules.gpu_present && !s.rules.gpu) unused = s.rules.gpu_reason;
  if (!unused.empty()) text += fmt::format("  card       not used: {}\n", unused);
  return text;
}

std::string limit_lines(const wire::RulesStatus& rules) {
  std::string text = fmt::format("  limits     {} processor thread{}", rules.threads, rules.threads == 1 ? "" : "s");
  if (rules.memory_bytes > 0) text += fmt::format(", {} memory", bytes_text(static_cast<double>(rules.memory_bytes)));
  text += fmt::format("\n  data       {} this month", bytes_text(static_cast<double>(rules.month_bytes)));
  if (rules.month_bytes_max > 0) text += fmt::format(" of {}", bytes_text(static_cast<double>(rules.month_bytes_max)));
  if (rules.month_bytes_forecast > 0) {
    text += fmt::format(", about {} by its end", bytes_text(static_cast<double>(rules.month_bytes_forecast)));
  }
  text += "\n";
  if (rules.month_bytes > 0) {
    text += fmt::format("             averaging {}, models {}, coordinator and data {}\n",
                        bytes_text(static_cast<double>(rules.month_averaging_bytes)),
                        bytes_text(static_cast<double>(rules.month_models_bytes)),
                        bytes_text(static_cast<double>(rules.month_coordinator_bytes)));
  }
  if (!rules.unknown.empty()) {
    text +=
        fmt::format("  unseen     {}: no sensor tells here, so rules about it do not apply\n", joined(rules.unknown));
  }
  return text;
}

// A line with what others found who computed this computer's samples once more; where nobody does, nothing.
std::string checked_lines(const wire::DaemonStatus& s) {
  if (!s.checked) return {};
  const wire::CheckedWork& checked = *s.checked;
  std::string text = "  checked    ";
  if (checked.times + checked.missed == 0) {
    text += "not yet: others compute some of its work once more";
  } else if (checked.missed == 0) {
    text += fmt::format("{} {}, all right", checked.times, checked.times == 1 ? "time" : "times");
  } else {
    text += fmt::format("{} times, {} of them not right", checked.times + checked.missed, checked.missed);
  }
  if (checked.pending > 0) text += fmt::format("; credit of {} samples is pending", checked.pending);
  return text + "\n";
}

// A line with the parts of a model that this computer holds for others; where the model is whole, nothing.
std::string cells_line(const wire::DaemonStatus& s) {
  if (!s.cells) return {};
  const std::string_view alone = s.cells->trunk_here ? "" : ", and no more of it, for lack of memory";
  return fmt::format("  experts    {} of {} parts of the model are here{}; {} calls answered\n", s.cells->held.size(),
                     s.cells->all, alone, s.cells->calls_answered);
}

// Lines with how others reach this computer, and with the action to take when they cannot.
std::string reach_lines(const wire::DaemonStatus& s) {
  const wire::ReachStatus& reach = s.reach;
  std::string text;
  if (reach.reachability == "reachable") {
    const bool mapped = reach.mapped_port != 0;
    text = fmt::format("  reachable  directly, at {} port {}{}\n", reach.address,
                       mapped ? reach.mapped_port : s.membership.listen_port,
                       mapped ? ", opened by " + reach.mapped_by : "");
  } else if (reach.reachability == "blocked") {
    text = reach.relay.is_zero() ? std::string("  reachable  no; it takes part by calling others, for full credit")
                                 : fmt::format("  reachable  over relay {}", reach.relay.brief());
    if (reach.relay.is_zero() && !reach.relay_problem.empty()) text += fmt::format(" ({})", reach.relay_problem);
    text +=
        fmt::format("\n             To be dialled directly, let your router forward TCP port {} to this computer{}\n",
                    s.membership.listen_port, reach.address.empty() ? "" : fmt::format(" (seen at {})", reach.address));
  }
  if (reach.clients > 0 || reach.streams > 0 || reach.bytes > 0) {
    text += fmt::format("  relaying   for {} computers, {} pairs connected, {} passed on\n", reach.clients,
                        reach.streams, bytes_text(static_cast<double>(reach.bytes)));
  }
  return text;
}

// Lines about a newer version and what happens with it; empty if there is nothing to tell.
std::string update_lines(const wire::UpdateStatus& update) {
  std::string text;
  if (!update.required.empty() && update.state != "ready" && update.state != "downloading") {
    const bool automatic = update.can_install && !update.version.empty();
    text += fmt::format("  to do      update Starling to {} or newer{}\n", update.required,
                        automatic ? ": starling update --install" : "");
  }
  const bool news = update.state == "available" || update.state == "downloading" || update.state == "ready" ||
                    update.state == "failed";
  if (news) text += fmt::format("  update     {}\n", update.text);
  if (news && !update.notes.empty()) text += fmt::format("             New: {}\n", update.notes);
  return text;
}

}  // namespace

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string progress_bar(double fraction, int width) {
  const double clamped = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const int full = static_cast<int>(std::lround(clamped * width));
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "]";
}

std::string format_status(const wire::DaemonStatus& s) {
  std::string text = sentence(s) + "\n";
  text += action_lines(s.rules);
  text += update_lines(s.update);
  for (const std::string& problem : s.problems) text += fmt::format("  problem    {}\n", problem);
  if (s.membership.project.empty()) return text;
  text += fmt::format("  project    {} as {}, run {}{}\n", s.membership.project, s.membership.display_name,
                      s.membership.run_id.empty() ? "-" : s.membership.run_id,
                      s.membership.run_state.empty() ? "" : " (" + s.membership.run_state + ")");
  text += fmt::format("  round      {} {} {} of {} samples, {} by this computer\n", s.training.round,
                      progress_bar(round_fraction(s), 20), s.swarm.samples_accumulated, s.swarm.target_batch_size,
                      s.training.samples_this_round);
  text += fmt::format("  swarm      {} members, {:.1f} samples/s, {:.1f} of them here\n", s.swarm.size,
                      s.swarm.samples_per_s, s.training.samples_per_s);
  if (!s.swarm.plan.empty()) text += fmt::format("  averaging  {}\n", s.swarm.plan);
  text += fmt::format("  model      loss {:.3f}", s.training.loss);
  if (s.training.validation_bits_per_byte)
    text += fmt::format(", held-out {:.3f} bits per byte", *s.training.validation_bits_per_byte);
  if (s.training.validation_accuracy)
    text += fmt::format(", {:.1f} % guessed right", 100 * *s.training.validation_accuracy);
  text += fmt::format("; {} rounds done, {} lost\n", s.training.rounds_done, s.training.rounds_failed);
  if (s.local_steps.mixings + s.local_steps.mixings_missed > 0) {
    text += fmt::format("  mixing     {} times with others, {} times nobody came; {:.2f} % from the average\n",
                        s.local_steps.mixings, s.local_steps.mixings_missed, 100 * s.local_steps.spread);
  }
  text += fmt::format("  credit     {:.6f} for {} accepted samples\n", s.training.credit, s.training.samples_credited);
  text += cells_line(s);
  text += checked_lines(s);
  text += reach_lines(s);
  text += fmt::format("  network    {} sent, {} received, up {}/s, down {}/s\n",
                      bytes_text(static_cast<double>(s.network.bytes_sent)),
                      bytes_text(static_cast<double>(s.network.bytes_received)),
                      bytes_text(s.network.upload_bytes_per_s), bytes_text(s.network.download_bytes_per_s));
  text += device_lines(s);
  text += limit_lines(s.rules);
  if (s.membership.coordinator_away) {
    text += fmt::format("  The coordinator cannot be reached{}. {} reports are waiting for it.\n",
                        s.training.synced && !s.paused ? "; training goes on" : "", s.training.reports_waiting);
  }
  return text;
}

std::string format_status_line(const wire::DaemonStatus& s) {
  std::string line =
      fmt::format("round {:>5} {} {:>5}/{:<5} loss {:.3f}  {:>7.1f} samples/s  swarm {:>3}  {}", s.training.round,
                  progress_bar(round_fraction(s), 20), s.swarm.samples_accumulated, s.swarm.target_batch_size,
                  s.training.loss, s.training.samples_per_s, s.swarm.size, wire::to_string(s.phase));
  if (!s.reason.empty()) line += ": " + s.reason;
  return line;
}

}  // namespace starling::cli
