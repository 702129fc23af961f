#include "shared/control/control.h"

#include <algorithm>
#include <limits>

#include "shared/control/pause_wish.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/message_fields.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {
namespace {

constexpr std::int64_t kCountMax = std::int64_t{1} << 53;  // exact in every JSON reader
constexpr double kNumberMax = 1e18;
constexpr std::size_t kTextMax = 4096;

void write_reach(JsonWriter& out, const ReachStatus& reach) {
  out.open("reach", '{');
  out.text("reachability", reach.reachability);
  out.text("address", reach.address);
  out.text("relay", reach.relay.hex());
  out.text("relay_problem", reach.relay_problem);
  out.integer("mapped_port", reach.mapped_port);
  out.text("mapped_by", reach.mapped_by);
  out.text("mapping_problem", reach.mapping_problem);
  out.integer("links_relayed", reach.links_relayed);
  out.integer("clients", reach.clients);
  out.integer("streams", reach.streams);
  out.integer("bytes", reach.bytes);
  out.close('}');
}

void write_update(JsonWriter& out, const UpdateStatus& update) {
  out.open("update", '{');
  out.text("state", update.state);
  out.text("text", update.text);
  out.text("version", update.version);
  out.text("notes", update.notes);
  out.text("notes_url", update.notes_url);
  out.text("required", update.required);
  out.boolean("can_install", update.can_install);
  out.integer("checked_ms", update.checked.unix_ms);
  out.close('}');
}

void read_update(JsonReader& in, UpdateStatus& update) {
  in.text("state", update.state, kTextMax);
  in.text("text", update.text, kTextMax);
  in.text("version", update.version, kTextMax);
  in.text("notes", update.notes, kTextMax);
  in.text("notes_url", update.notes_url, kTextMax);
  in.text("required", update.required, kTextMax);
  in.boolean("can_install", update.can_install);
  in.integer("checked_ms", update.checked.unix_ms, 0, kCountMax);
}

void write_rules(JsonWriter& out, const RulesStatus& rules) {
  out.open("rules", '{');
  out.text("code", rules.code);
  out.text("action", rules.action);
  out.text("action_command", rules.action_command);
  out.integer("ends_at_ms", rules.ends_at.unix_ms);
  out.boolean("pause_after_round", rules.pause_after_round);
  out.integer("threads", rules.threads);
  out.integer("memory_bytes", rules.memory_bytes);
  out.boolean("gpu_present", rules.gpu_present);
  out.boolean("gpu", rules.gpu);
  out.text("gpu_reason", rules.gpu_reason);
  out.open("unknown", '[');
  for (const std::string& sensor : rules.unknown) out.text("", sensor);
  out.close(']');
  out.integer("month_bytes", rules.month_bytes);
  out.integer("month_averaging_bytes", rules.month_averaging_bytes);
  out.integer("month_models_bytes", rules.month_models_bytes);
  out.integer("month_coordinator_bytes", rules.month_coordinator_bytes);
  out.integer("month_bytes_max", rules.month_bytes_max);
  out.integer("month_bytes_forecast", rules.month_bytes_forecast);
  out.close('}');
}

void read_rules(JsonReader& in, RulesStatus& rules) {
  in.text("code", rules.code, kTextMax);
  in.text("action", rules.action, kTextMax);
  in.text("action_command", rules.action_command, kTextMax);
  in.integer("ends_at_ms", rules.ends_at.unix_ms, 0, kCountMax);
  in.boolean("pause_after_round", rules.pause_after_round);
  read_int(in, "threads", rules.threads, 0, std::numeric_limits<int>::max());
  in.integer("memory_bytes", rules.memory_bytes, 0, kCountMax);
  in.boolean("gpu_present", rules.gpu_present);
  in.boolean("gpu", rules.gpu);
  in.text("gpu_reason", rules.gpu_reason, kTextMax);
  in.list("unknown", kUnknownMax, [&](JsonReader& sensor) { sensor.text("", rules.unknown.emplace_back(), kTextMax); });
  in.integer("month_bytes", rules.month_bytes, 0, kCountMax);
  if (in.present("month_averaging_bytes")) {
    in.integer("month_averaging_bytes", rules.month_averaging_bytes, 0, kCountMax);
    in.integer("month_models_bytes", rules.month_models_bytes, 0, kCountMax);
    in.integer("month_coordinator_bytes", rules.month_coordinator_bytes, 0, kCountMax);
  }
  in.integer("month_bytes_max", rules.month_bytes_max, 0, kCountMax);
  in.integer("month_bytes_forecast", rules.month_bytes_forecast, 0, kCountMax);
}

void write_status(JsonWriter& out, std::string_view name, const DaemonStatus& s) {
  out.open(name, '{');
  out.integer("revision", s.revision);
  out.text("version", s.version);
  out.text("phase", s.phase);
  out.text("reason", s.reason);
  out.text("ends_when", s.ends_when);
  out.open("problems", '[');
  for (std::size_t i = 0; i < std::min(s.problems.size(), kProblemsShownMax); ++i) out.text("", s.problems[i]);
  out.close(']');
  out.boolean("paused", s.paused);
  write_rules(out, s.rules);
  out.text("project", s.project);
  out.text("display_name", s.display_name);
  out.integer("projects", s.projects);
  out.text("run_id", s.run_id);
  out.text("run_title", s.run_title);
  out.text("run_state", s.run_state);
  out.text("peer", s.peer.hex());
  out.integer("listen_port", s.listen_port);
  write_reach(out, s.reach);
  write_update(out, s.update);
  out.boolean("coordinator_away", s.coordinator_away);
  out.integer("round", s.round);
  out.integer("state_round", s.state_round);
  out.text("state_digest", s.state_digest.hex());
  out.boolean("synced", s.synced);
  out.integer("samples_this_round", s.samples_this_round);
  out.integer("target_batch_size", s.target_batch_size);
  out.integer("samples_total", s.samples_total);
  out.integer("samples_credited", s.samples_credited);
  out.number("credit", s.credit);
  out.number("samples_per_s", s.samples_per_s);
  out.open("swarm", '{');
  out.integer("size", s.swarm_size);
  out.number("samples_per_s", s.swarm_samples_per_s);
  out.integer("samples_accumulated", s.samples_accumulated);
  out.text("plan", s.plan);
  out.close('}');
  out.number("loss", s.loss);
  out.number("validation_bits_per_byte", s.validation_bits_per_byte.value_or(std::numeric_limits<double>::quiet_NaN()));
  if (s.validation_accuracy) out.number("validation_accuracy", *s.validation_accuracy);
  out.integer("validation_round", s.validation_round);
  out.integer("rounds_done", s.rounds_done);
  out.integer("rounds_failed", s.rounds_failed);
  out.open("local_steps", '{');
  out.integer("mixings", s.mixings);
  out.integer("mixings_missed", s.mixings_missed);
  out.number("spread", s.spread);
  out.close('}');
  out.integer("reports_waiting", s.reports_waiting);
  out.open("network", '{');
  out.number("upload_bytes_per_s", s.upload_bytes_per_s);
  out.number("download_bytes_per_s", s.download_bytes_per_s);
  out.integer("bytes_sent", s.bytes_sent);
  out.integer("bytes_received", s.bytes_received);
  out.close('}');
  out.close('}');
}

void read_reach(JsonReader& in, ReachStatus& reach) {
  in.text("reachability", reach.reachability, kTextMax);
  in.text("address", reach.address, kTextMax);
  read_id(in, "relay", reach.relay);
  in.text("relay_problem", reach.relay_problem, kTextMax);
  read_int(in, "mapped_port", reach.mapped_port, 0, 65535);
  in.text("mapped_by", reach.mapped_by, kTextMax);
  in.text("mapping_problem", reach.mapping_problem, kTextMax);
  in.integer("links_relayed", reach.links_relayed, 0, kCountMax);
  in.integer("clients", reach.clients, 0, kCountMax);
  in.integer("streams", reach.streams, 0, kCountMax);
  in.integer("bytes", reach.bytes, 0, kCountMax);
}

void read_training(JsonReader& in, DaemonStatus& s) {
  in.integer("round", s.round, 0, kCountMax);
  in.integer("state_round", s.state_round, 0, kCountMax);
  read_id(in, "state_digest", s.state_digest);
  in.boolean("synced", s.synced);
  in.integer("samples_this_round", s.samples_this_round, 0, kCountMax);
  in.integer("target_batch_size", s.target_batch_size, 0, kCountMax);
  in.integer("samples_total", s.samples_total, 0, kCountMax);
  in.integer("samples_credited", s.samples_credited, 0, kCountMax);
  in.number("credit", s.credit, 0, kNumberMax);
  in.number("samples_per_s", s.samples_per_s, 0, kNumberMax);
  in.number("loss", s.loss, -kNumberMax, kNumberMax);
  if (in.present("validation_bits_per_byte")) {
    in.number("validation_bits_per_byte", s.validation_bits_per_byte.emplace(), 0, kNumberMax);
  }
  if (in.present("validation_accuracy")) in.number("validation_accuracy", s.validation_accuracy.emplace(), 0, 1);
  in.integer("validation_round", s.validation_round, 0, kCountMax);
  in.integer("rounds_done", s.rounds_done, 0, kCountMax);
  in.integer("rounds_failed", s.rounds_failed, 0, kCountMax);
  if (in.present("local_steps")) {
    in.object("local_steps", [&](JsonReader& steps) {
      steps.integer("mixings", s.mixings, 0, kCountMax);
      steps.integer("mixings_missed", s.mixings_missed, 0, kCountMax);
      steps.number("spread", s.spread, 0, kNumberMax);
    });
  }
  in.integer("reports_waiting", s.reports_waiting, 0, kCountMax);
}

void read_status(JsonReader& in, DaemonStatus& s) {
  in.integer("revision", s.revision, 0, kCountMax);
  in.text("version", s.version, kTextMax);
  in.text("phase", s.phase, kTextMax);
  in.text("reason", s.reason, kTextMax);
  in.text("ends_when", s.ends_when, kTextMax);
  in.list("problems", kProblemsShownMax,
          [&](JsonReader& problem) { problem.text("", s.problems.emplace_back(), kTextMax); });
  in.boolean("paused", s.paused);
  in.object("rules", [&](JsonReader& rules) { read_rules(rules, s.rules); });
  in.text("project", s.project, kTextMax);
  in.text("display_name", s.display_name, kTextMax);
  if (in.present("projects")) read_int(in, "projects", s.projects, 0, std::numeric_limits<int>::max());
  in.text("run_id", s.run_id, kTextMax);
  in.text("run_title", s.run_title, kTextMax);
  in.text("run_state", s.run_state, kTextMax);
  read_id(in, "peer", s.peer);
  read_int(in, "listen_port", s.listen_port, 0, 65535);
  if (in.present("reach")) in.object("reach", [&](JsonReader& reach) { read_reach(reach, s.reach); });
  if (in.present("update")) in.object("update", [&](JsonReader& update) { read_update(update, s.update); });
  in.boolean("coordinator_away", s.coordinator_away);
  read_training(in, s);
  in.object("swarm", [&](JsonReader& swarm) {
    read_int(swarm, "size", s.swarm_size, 0, std::numeric_limits<int>::max());
    swarm.number("samples_per_s", s.swarm_samples_per_s, 0, kNumberMax);
    swarm.integer("samples_accumulated", s.samples_accumulated, 0, kCountMax);
    if (swarm.present("plan")) swarm.text("plan", s.plan, kReasonBytesMax);
  });
  in.object("network", [&](JsonReader& network) {
    network.number("upload_bytes_per_s", s.upload_bytes_per_s, 0, kNumberMax);
    network.number("download_bytes_per_s", s.download_bytes_per_s, 0, kNumberMax);
    network.integer("bytes_sent", s.bytes_sent, 0, kCountMax);
    network.integer("bytes_received", s.bytes_received, 0, kCountMax);
  });
}

ErrorCode code_from(std::string_view name) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    if (to_string(static_cast<ErrorCode>(code)) == name) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::internal;
}

void read_request(JsonReader& in, ControlRequest& request) {
  in.text("command", request.command, kTextMax);
  if (in.present("after_revision")) {
    in.integer("after_revision", request.after_revision.emplace(), -1, kCountMax);
  }
  if (in.present("link")) in.text("link", request.link, kTextMax);
  if (in.present("team")) in.text("team", request.team, kTextMax);
  if (in.present("name")) in.text("name", request.name, kTextMax);
  if (in.present("password")) in.text("password", request.password, kPasswordBytesMax);
  if (in.present("email")) in.text("email", request.email, kEmailBytesMax);
  if (in.present("project")) in.text("project", request.project, kTextMax);
  if (in.present("share")) in.number("share", request.share.emplace(), 0, kNumberMax);
  if (in.present("reason")) in.text("reason", request.reason, kPauseReasonBytesMax);
  if (in.present("for")) in.text("for", request.duration, kTextMax);
  if (in.present("after_round")) in.boolean("after_round", request.after_round);
  if (in.present("gpu")) in.boolean("gpu", request.gpu);
  if (in.present("install")) in.boolean("install", request.install);
  if (in.present("preset")) in.text("preset", request.preset, kTextMax);
  if (in.present("changes"))
    in.list("changes", kPreferenceChangesMax, [&](JsonReader& item) {
      PreferenceChange& change = request.changes.emplace_back();
      item.text("name", change.name, kTextMax);
      item.text("value", change.value, kTextMax);
    });
  if (in.present("prompt")) in.text("prompt", request.prompt, kSampleBytesMax);
  if (in.present("length")) read_int(in, "length", request.length, 1, kSampleBytesMax);
  if (in.present("temperature")) in.number("temperature", request.temperature, 0, 10);
  if (in.present("lines")) read_int(in, "lines", request.lines, 1, 10000);
  if (in.present("span")) in.text("span", request.span, kTextMax);
  if (in.present("sort")) in.text("sort", request.sort, kTextMax);
  if (in.present("search")) in.text("search", request.search, kTextMax);
  if (in.present("remote")) in.text("remote", request.remote, kTextMax);
  if (in.present("listen")) in.text("listen", request.listen, kTextMax);
  if (in.present("port")) read_int(in, "port", request.port, 0, 65535);
  if (in.present("token")) in.text("token", request.token, kTextMax);
  if (in.present("page")) read_int(in, "page", request.page, 1, std::numeric_limits<int>::max());
}

void read_reply(JsonReader& in, ControlReply& reply) {
  bool ok = false;
  in.boolean("ok", ok);
  if (!ok) {
    std::string code;
    Error error;
    in.text("code", code, kTextMax);
    in.text("message", error.message, kControlLineBytesMax);
    error.code = code_from(code);
    reply.error = std::move(error);
    return;
  }
  if (in.present("text")) in.text("text", reply.text, kControlLineBytesMax);
  if (in.present("preferences")) {
    in.object("preferences", [&](JsonReader& p) { read_preferences(p, reply.preferences.emplace()); });
  }
  if (in.present("status"))
    in.object("status", [&](JsonReader& status) { read_status(status, reply.status.emplace()); });
  if (in.present("preview")) in.object("preview", [&](JsonReader& p) { read_preview(p, reply.preview.emplace()); });
  if (in.present("projects")) read_projects(in, reply.projects.emplace());
  if (in.present("history")) read_history(in, "history", reply.history.emplace());
  if (in.present("peers")) in.object("peers", [&](JsonReader& p) { read_peers(p, reply.peers.emplace()); });
  if (in.present("remote")) in.object("remote", [&](JsonReader& r) { read_remote(r, reply.remote.emplace()); });
  if (in.present("team")) in.object("team", [&](JsonReader& team) { read_fields(team, reply.team.emplace()); });
  if (in.present("leaderboard")) {
    in.object("leaderboard", [&](JsonReader& board) { read_leaderboard(board, reply.leaderboard.emplace()); });
  }
}

}  // namespace

std::string encode_line(const ControlRequest& request) {
  JsonWriter out;
  out.open("", '{');
  out.text("command", request.command);
  if (request.after_revision.has_value()) out.integer("after_revision", *request.after_revision);
  if (!request.link.empty()) out.text("link", request.link);
  if (!request.team.empty()) out.text("team", request.team);
  if (!request.name.empty()) out.text("name", request.name);
  if (!request.password.empty()) out.text("password", request.password);
  if (!request.email.empty()) out.text("email", request.email);
  if (!request.project.empty()) out.text("project", request.project);
  if (request.share.has_value()) out.number("share", *request.share);
  if (!request.reason.empty()) out.text("reason", request.reason);
  if (!request.duration.empty()) out.text("for", request.duration);
  if (request.after_round) out.boolean("after_round", true);
  if (request.gpu) out.boolean("gpu", true);
  if (request.install) out.boolean("install", true);
  if (!request.preset.empty()) out.text("preset", request.preset);
  if (!request.changes.empty()) {
    out.open("changes", '[');
    for (const PreferenceChange& change : request.changes) {
      out.open("", '{');
      out.text("name", change.name);
      out.text("value", change.value);
      out.close('}');
    }
    out.close(']');
  }
  if (request.command == "log") out.integer("lines", request.lines);
  if (!request.span.empty()) out.text("span", request.span);
  if (!request.sort.empty()) out.text("sort", request.sort);
  if (!request.search.empty()) out.text("search", request.search);
  if (request.page != 1) out.integer("page", request.page);
  if (request.command == "remote") {
    out.text("remote", request.remote);
    out.text("listen", request.listen);
    out.integer("port", request.port);
  }
  if (!request.token.empty()) out.text("token", request.token);
  if (request.command == "sample") {
    out.text("prompt", request.prompt);
    out.integer("length", request.length);
    out.number("temperature", request.temperature);
  }
  out.close('}');
  return out.str() + "\n";
}

std::string encode_line(const ControlReply& reply) {
  JsonWriter out;
  out.open("", '{');
  out.boolean("ok", !reply.error.has_value());
  if (reply.error.has_value()) {
    out.text("code", to_string(reply.error->code));
    out.text("message", reply.error->message);
  }
  if (reply.status.has_value()) write_status(out, "status", *reply.status);
  if (reply.preferences.has_value()) out.raw("preferences", encode(*reply.preferences));
  if (reply.preview.has_value()) write_preview(out, *reply.preview);
  if (reply.projects.has_value()) write_projects(out, *reply.projects);
  if (reply.history.has_value()) write_history(out, "history", *reply.history);
  if (reply.peers.has_value()) write_peers(out, *reply.peers);
  if (reply.leaderboard.has_value()) write_leaderboard(out, *reply.leaderboard);
  if (reply.remote.has_value()) write_remote(out, *reply.remote);
  if (reply.team.has_value()) out.raw("team", encode(*reply.team));
  if (!reply.text.empty()) out.text("text", reply.text);
  out.close('}');
  return out.str() + "\n";
}

Result<ControlRequest> decode_control_request(std::string_view line) {
  return decode_json<ControlRequest>(line, "request", kControlLineBytesMax, read_request);
}

Result<ControlReply> decode_control_reply(std::string_view line) {
  return decode_json<ControlReply>(line, "reply", kControlLineBytesMax, read_reply);
}

std::string encode_status(const DaemonStatus& status) {
  JsonWriter out;
  write_status(out, "", status);
  return out.str() + "\n";
}

}  // namespace starling::wire
