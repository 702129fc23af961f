// The fields of the control API's requests, replies and files, in the order of their text, with their bounds.
#pragma once

#include <array>
#include <limits>

#include "shared/control/control.h"
#include "shared/control/pause_request.h"
#include "shared/protocol/checked_work_fields.h"
#include "shared/protocol/compute_device_fields.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/limits.h"
#include "shared/wire/calls.h"
#include "shared/wire/fields.h"

namespace starling::wire {

constexpr std::int64_t kCountMax = std::int64_t{1} << 53;  // exact in every JSON reader
constexpr std::size_t kLineTextBytesMax = 4096;
constexpr std::size_t kViewTextBytesMax = 512;
constexpr Text kLineText{kLineTextBytesMax};
constexpr Text kViewText{kViewTextBytesMax};
constexpr Whole kStatusCount{0, kCountMax};
constexpr Whole kSignedCount{-kCountMax, kCountMax};
constexpr Whole kAnyInt{0, std::numeric_limits<int>::max()};
constexpr Real kPositive{0, 1e18};
constexpr Real kSigned{-1e18, 1e18};
constexpr Real kFraction{0, 1};
constexpr Whole kPauseTime{0, std::int64_t{1} << 52};

constexpr std::array<std::string_view, 10> kDaemonPhaseWords = {"idle",        "preparing", "joining",   "waiting",
                                                                "downloading", "training",  "averaging", "stepping",
                                                                "evaluating",  "paused"};
constexpr std::array<std::string_view, 3> kPauseWords = {"none", "after_round", "now"};
constexpr std::array<std::string_view, 3> kUseModeWords = {"always", "rules", "never"};

inline std::span<const std::string_view> words_of(DaemonPhase /*phase*/) { return kDaemonPhaseWords; }
inline std::span<const std::string_view> words_of(PauseKind /*kind*/) { return kPauseWords; }
inline std::span<const std::string_view> words_of(UseMode /*mode*/) { return kUseModeWords; }

// In preferences.cpp, for FieldWriter and FieldReader, from the table of all preferences.
template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Preferences>& preferences);

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, PauseRequest>& request) {
  visit("pause", request.kind);
  visit("until_ms", request.until.unix_ms, kPauseTime);
  visit("reason", request.reason, Text{kPauseReasonBytesMax});
  visit("gpu_pause", request.gpu);
  visit("gpu_until_ms", request.gpu_until.unix_ms, kPauseTime);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GetStatus>& request) {
  visit("after_revision", request.after_revision, Whole{-1, kCountMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, JoinProject>& request) {
  visit("link", request.link, kLineText, kLeftOutIfUnset);
  visit("name", request.name, kLineText, kLeftOutIfUnset);
  visit("password", request.password, Text{kPasswordBytesMax, TextForm::exact}, kLeftOutIfUnset);
  visit("email", request.email, Text{kEmailBytesMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& /*visit*/, Seen<Visitor, ListProjects>& /*request*/) {}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ShareProject>& request) {
  visit("project", request.project, kLineText, kLeftOutIfUnset);
  visit("share", request.share, kPositive);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, TrainProject>& request) {
  visit("project", request.project, kLineText, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, AllowProject>& request) {
  visit("project", request.project, kLineText, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, LeaveProject>& request) {
  visit("project", request.project, kLineText, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& /*visit*/, Seen<Visitor, StopDaemon>& /*request*/) {}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Pause>& request) {
  visit("reason", request.reason, Text{kPauseReasonBytesMax}, kLeftOutIfUnset);
  visit("for", request.duration, kLineText, kLeftOutIfUnset);
  visit("after_round", request.after_round, kLeftOutIfUnset);
  visit("gpu", request.gpu, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Resume>& request) {
  visit("gpu", request.gpu, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& /*visit*/, Seen<Visitor, GetPreferences>& /*request*/) {}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, PreferenceChange>& change) {
  visit("name", change.name, kLineText);
  visit("value", change.value, kLineText);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SetPreferences>& request) {
  visit("preset", request.preset, kLineText, kLeftOutIfUnset);
  visit("changes", request.changes, Items{kPreferenceChangesMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SampleText>& request) {
  visit("prompt", request.prompt, Text{kSampleBytesMax, TextForm::exact}, kLater);
  visit("length", request.length, Whole{1, kSampleBytesMax}, kLater);
  visit("temperature", request.temperature, Real{0, 10}, kLater);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, LookForUpdate>& request) {
  visit("install", request.install, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GetLog>& request) {
  visit("lines", request.lines, Whole{1, 10000}, kLater);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, PreviewProject>& request) {
  visit("link", request.link, kLineText, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GetHistory>& request) {
  visit("span", request.span, kLineText, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& /*visit*/, Seen<Visitor, GetPeers>& /*request*/) {}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ArrangeTeam>& request) {
  visit("team", request.action, kLineText, kLeftOutIfUnset);
  visit("name", request.name, kLineText, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GetLeaderboard>& request) {
  visit("sort", request.sort, kLineText, kLeftOutIfUnset);
  visit("search", request.search, kLineText, kLeftOutIfUnset);
  visit("page", request.page, Whole{1, std::numeric_limits<int>::max()}, left_out_if(1));
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ArrangeRemote>& request) {
  visit("remote", request.action, kLineText, kLater);
  visit("listen", request.listen, kLineText, kLater);
  visit("port", request.port, kPort, kLater);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Authenticate>& request) {
  visit("token", request.token, kLineText, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RulesStatus>& rules) {
  visit("code", rules.code, kLineText);
  visit("action", rules.action, kLineText);
  visit("action_command", rules.action_command, kLineText);
  visit("ends_at_ms", rules.ends_at.unix_ms, kStatusCount);
  visit("pause_after_round", rules.pause_after_round);
  visit("threads", rules.threads, kAnyInt);
  visit("memory_bytes", rules.memory_bytes, kStatusCount);
  visit("gpu_present", rules.gpu_present);
  visit("gpu", rules.gpu);
  visit("gpu_reason", rules.gpu_reason, kLineText);
  visit("unknown", rules.unknown, Items{kUnknownMax}, kLineText);
  visit("month_bytes", rules.month_bytes, kStatusCount);
  visit("month_averaging_bytes", rules.month_averaging_bytes, kStatusCount, kLater);
  visit("month_models_bytes", rules.month_models_bytes, kStatusCount, kLater);
  visit("month_coordinator_bytes", rules.month_coordinator_bytes, kStatusCount, kLater);
  visit("month_bytes_max", rules.month_bytes_max, kStatusCount);
  visit("month_bytes_forecast", rules.month_bytes_forecast, kStatusCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ReachStatus>& reach) {
  visit("reachability", reach.reachability, kLineText);
  visit("address", reach.address, kLineText);
  visit("relay", reach.relay);
  visit("relay_problem", reach.relay_problem, kLineText);
  visit("mapped_port", reach.mapped_port, kPort);
  visit("mapped_by", reach.mapped_by, kLineText);
  visit("mapping_problem", reach.mapping_problem, kLineText);
  visit("links_relayed", reach.links_relayed, kStatusCount);
  visit("clients", reach.clients, kStatusCount);
  visit("streams", reach.streams, kStatusCount);
  visit("bytes", reach.bytes, kStatusCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, UpdateStatus>& update) {
  visit("state", update.state, kLineText);
  visit("text", update.text, kLineText);
  visit("version", update.version, kLineText);
  visit("notes", update.notes, Text{kLineTextBytesMax, TextForm::lines});
  visit("notes_url", update.notes_url, kLineText);
  visit("required", update.required, kLineText);
  visit("can_install", update.can_install);
  visit("checked_ms", update.checked.unix_ms, kStatusCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SwarmStatus>& swarm) {
  visit("size", swarm.size, kAnyInt);
  visit("samples_per_s", swarm.samples_per_s, kPositive);
  visit("samples_accumulated", swarm.samples_accumulated, kStatusCount);
  visit("plan", swarm.plan, Text{kReasonBytesMax}, kLater);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, LocalStepsStatus>& steps) {
  visit("mixings", steps.mixings, kStatusCount);
  visit("mixings_missed", steps.mixings_missed, kStatusCount);
  visit("spread", steps.spread, kPositive);
}

constexpr std::size_t kHeldCellsMax = 512;

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, HeldCell>& held) {
  visit("cell", held.cell, kStatusCount);
  visit("layer", held.layer, kStatusCount);
  visit("first_expert", held.first_expert, kStatusCount);
  visit("units", held.units, Items{kCellExpertsMax}, kStatusCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CellsStatus>& cells) {
  visit("all", cells.all, kStatusCount);
  visit("held", cells.held, Items{kHeldCellsMax});
  visit("calls_answered", cells.calls_answered, kStatusCount);
  visit("trunk_here", cells.trunk_here);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, NetworkStatus>& network) {
  visit("upload_bytes_per_s", network.upload_bytes_per_s, kPositive);
  visit("download_bytes_per_s", network.download_bytes_per_s, kPositive);
  visit("bytes_sent", network.bytes_sent, kStatusCount);
  visit("bytes_received", network.bytes_received, kStatusCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ComputingStatus>& computing) {
  visit("trainer", computing.trainer, kLineText);
  visit("device", computing.device, kNullIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, DaemonStatus>& status) {
  auto& [revision, version, phase, reason, ends_when, problems, paused, rules, membership, reach, update, training,
         swarm, local_steps, network, computing, checked, cells] = status;
  visit("revision", revision, kStatusCount);
  visit("version", version, kLineText);
  visit("phase", phase);
  visit("reason", reason, kLineText);
  visit("ends_when", ends_when, kLineText);
  visit("problems", problems, FirstItems{kProblemsShownMax}, kLineText);
  visit("paused", paused);
  visit("rules", rules);
  visit("project", membership.project, kLineText);
  visit("display_name", membership.display_name, kLineText);
  visit("projects", membership.projects, kAnyInt, kLater);
  visit("run_id", membership.run_id, kLineText);
  visit("run_title", membership.run_title, kLineText);
  visit("run_state", membership.run_state, kLineText);
  visit("peer", membership.peer);
  visit("listen_port", membership.listen_port, kPort);
  visit("reach", reach, kLater);
  visit("update", update, kLater);
  visit("coordinator_away", membership.coordinator_away);
  visit("round", training.round, kStatusCount);
  visit("state_round", training.state_round, kStatusCount);
  visit("state_digest", training.state_digest);
  visit("synced", training.synced);
  visit("samples_this_round", training.samples_this_round, kStatusCount);
  visit("target_batch_size", swarm.target_batch_size, kStatusCount);
  visit("samples_total", training.samples_total, kStatusCount);
  visit("samples_credited", training.samples_credited, kStatusCount);
  visit("credit", training.credit, kPositive);
  visit("samples_per_s", training.samples_per_s, kPositive);
  visit("swarm", swarm);
  visit("loss", training.loss, kSigned);
  visit("validation_bits_per_byte", training.validation_bits_per_byte, kPositive, kNullIfUnset);
  visit("validation_accuracy", training.validation_accuracy, kFraction);
  visit("validation_round", training.validation_round, kStatusCount);
  visit("rounds_done", training.rounds_done, kStatusCount);
  visit("rounds_failed", training.rounds_failed, kStatusCount);
  visit("local_steps", local_steps, kLater);
  visit("reports_waiting", training.reports_waiting, kStatusCount);
  visit("network", network);
  visit("computing", computing, kLater);
  visit("checked", checked);
  visit("cells", cells);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, HistoryPoint>& point) {
  visit("at_ms", point.begin.unix_ms, kStatusCount);
  visit("round", point.round, kStatusCount);
  visit("rounds", point.rounds, kStatusCount);
  visit("samples", point.samples, kStatusCount);
  visit("swarm_samples", point.swarm_samples, kStatusCount);
  visit("loss", point.loss, kSigned);
  visit("credit", point.credit, kSigned);
  visit("bytes", point.bytes, kStatusCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ProjectView>& project) {
  visit("name", project.name, kViewText);
  visit("display_name", project.display_name, kViewText);
  visit("address", project.address, kViewText);
  visit("share", project.share, kPositive);
  visit("trained_s", project.trained_s, kPositive);
  visit("current", project.current);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, PeerView>& peer) {
  visit("peer", peer.peer);
  visit("role", peer.role, kViewText);
  visit("samples", peer.samples, kStatusCount);
  visit("part", peer.part, kFraction);
  visit("relayed", peer.relayed);
  visit("self", peer.self);
  visit("upload_bytes_per_s", peer.upload_bytes_per_s, kPositive, kLater);
  visit("download_bytes_per_s", peer.download_bytes_per_s, kPositive, kLater);
  visit("round_trip_ms", peer.round_trip_ms, kPositive, kLater);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, PeersView>& peers) {
  visit("round", peers.round, kStatusCount);
  visit("members", peers.members, kStatusCount);
  visit("list", peers.peers, Items{kPeersShownMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RemoteView>& remote) {
  visit("enabled", remote.enabled);
  visit("address", remote.address, kViewText);
  visit("port", remote.port, kPort);
  visit("fingerprint", remote.fingerprint, kViewText);
  visit("token", remote.token, kViewText, kLeftOutIfUnset);
  visit("problem", remote.problem, kViewText);
  visit("callers", remote.callers, Whole{0, 1'000'000});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, StandingView>& row) {
  visit("rank", row.rank, kStatusCount);
  visit("name", row.name, kViewText);
  // Older programs do not know all columns.
  for (std::size_t i = 0; i < leaderboard::kColumns.size(); ++i) {
    const leaderboard::Column& column = leaderboard::kColumns[i];
    if (column.unit == leaderboard::Unit::samples) {
      auto samples = static_cast<std::int64_t>(row.figures.at(i));
      visit(column.name, samples, kSignedCount, kLater);
      if constexpr (Visitor::kChanges) row.figures.at(i) = static_cast<double>(samples);
    } else {
      const bool average = column.unit == leaderboard::Unit::credit_per_day;
      auto figure = row.figures.at(i);
      visit(column.name, figure, average ? kPositive : kSigned, kLater);
      if constexpr (Visitor::kChanges) row.figures.at(i) = figure;
    }
  }
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, LeaderboardView>& board) {
  visit("project", board.project, kViewText);
  visit("sort", board.sort, kViewText);
  visit("volunteers", board.volunteers, kStatusCount);
  visit("page", board.page, Whole{1, std::numeric_limits<int>::max()});
  visit("per_page", board.per_page, kAnyInt);
  visit("pinned", board.pinned);
  visit("rows", board.rows, Items{kStandingsShownMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ProjectPreview>& preview) {
  visit("address", preview.address, kViewText);
  visit("fingerprint", preview.fingerprint, kViewText);
  visit("project", preview.project, kViewText);
  visit("has_run", preview.has_run);
  visit("run_title", preview.run_title, kViewText);
  visit("run_state", preview.run_state, kViewText);
  visit("parameters", preview.parameters, kStatusCount);
  visit("data_bytes", preview.data_bytes, kStatusCount);
  visit("disk_bytes", preview.disk_bytes, kStatusCount);
  visit("bytes_per_round", preview.bytes_per_round, kStatusCount);
  visit("bytes_per_hour", preview.bytes_per_hour, kStatusCount);
  visit("volunteers", preview.volunteers, kStatusCount);
  visit("swarm_size", preview.swarm_size, kStatusCount);
  visit("bits_per_byte", preview.bits_per_byte, kPositive);
}

// Reads an unknown code, of a later version, as `internal`.
inline ErrorCode error_code(std::string_view name) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    if (to_string(static_cast<ErrorCode>(code)) == name) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::internal;
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Error>& error) {
  std::string code(to_string(error.code));
  visit("code", code, kLineText);
  if constexpr (Visitor::kChanges) error.code = error_code(code);
  visit("message", error.message, Text{kControlLineBytesMax, TextForm::lines});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ControlReply>& reply) {
  bool ok = !reply.error.has_value();
  visit("ok", ok);
  if constexpr (Visitor::kChanges) {
    if (!ok) return each_field(visit, reply.error.emplace());
  } else if (!ok) {
    each_field(visit, *reply.error);
  }
  visit("status", reply.status);
  visit("preferences", reply.preferences);
  visit("preview", reply.preview);
  visit("projects", reply.projects, Items{kProjectsShownMax});
  visit("history", reply.history, Items{kHistoryPointsMax});
  visit("peers", reply.peers);
  visit("leaderboard", reply.leaderboard);
  visit("remote", reply.remote);
  visit("team", reply.team);
  visit("text", reply.text, Text{kControlLineBytesMax, TextForm::lines}, kLeftOutIfUnset);
}

}  // namespace starling::wire
