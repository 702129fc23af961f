#include "shared/control/control_views.h"

#include <algorithm>
#include <array>

#include "shared/protocol/messages.h"

namespace starling::wire {
namespace {

constexpr std::int64_t kCountMax = std::int64_t{1} << 53;  // exact in every JSON reader
constexpr double kNumberMax = 1e18;
constexpr std::size_t kTextMax = 512;
constexpr std::array<std::string_view, kHistorySpans> kSpanNames = {"rounds", "day", "month", "all"};

void write_standing(JsonWriter& out, std::string_view name, const StandingView& row) {
  out.open(name, '{');
  out.integer("rank", row.rank);
  out.text("name", row.name);
  for (std::size_t i = 0; i < leaderboard::kColumns.size(); ++i) {
    const leaderboard::Column& column = leaderboard::kColumns[i];
    if (column.unit == leaderboard::Unit::samples) {
      out.integer(column.name, static_cast<std::int64_t>(row.figures.at(i)));
    } else {
      out.number(column.name, row.figures.at(i));
    }
  }
  out.close('}');
}

void read_standing(JsonReader& in, StandingView& row) {
  in.integer("rank", row.rank, 0, kCountMax);
  in.text("name", row.name, kTextMax);
  for (std::size_t i = 0; i < leaderboard::kColumns.size(); ++i) {
    const leaderboard::Column& column = leaderboard::kColumns[i];
    if (!in.present(column.name)) continue;  // an older program does not know the column
    if (column.unit == leaderboard::Unit::samples) {
      std::int64_t samples = 0;
      in.integer(column.name, samples, -kCountMax, kCountMax);
      row.figures.at(i) = static_cast<double>(samples);
    } else {
      const bool average = column.unit == leaderboard::Unit::credit_per_day;
      in.number(column.name, row.figures.at(i), average ? 0 : -kNumberMax, kNumberMax);
    }
  }
}

void write_point(JsonWriter& out, const HistoryPoint& point) {
  out.open("", '{');
  out.integer("at_ms", point.begin.unix_ms);
  out.integer("round", point.round);
  out.integer("rounds", point.rounds);
  out.integer("samples", point.samples);
  out.integer("swarm_samples", point.swarm_samples);
  out.number("loss", point.loss);
  out.number("credit", point.credit);
  out.integer("bytes", point.bytes);
  out.close('}');
}

void read_point(JsonReader& in, HistoryPoint& point) {
  in.integer("at_ms", point.begin.unix_ms, 0, kCountMax);
  in.integer("round", point.round, 0, kCountMax);
  in.integer("rounds", point.rounds, 0, kCountMax);
  in.integer("samples", point.samples, 0, kCountMax);
  in.integer("swarm_samples", point.swarm_samples, 0, kCountMax);
  in.number("loss", point.loss, -kNumberMax, kNumberMax);
  in.number("credit", point.credit, -kNumberMax, kNumberMax);
  in.integer("bytes", point.bytes, 0, kCountMax);
}

}  // namespace

std::string_view to_string(HistorySpan span) { return kSpanNames[static_cast<std::size_t>(span)]; }

std::optional<HistorySpan> history_span(std::string_view name) {
  const auto* found = std::find(kSpanNames.begin(), kSpanNames.end(), name);
  if (found == kSpanNames.end()) return std::nullopt;
  return static_cast<HistorySpan>(found - kSpanNames.begin());
}

void write_history(JsonWriter& out, std::string_view name, const std::vector<HistoryPoint>& points) {
  out.open(name, '[');
  for (const HistoryPoint& point : points) write_point(out, point);
  out.close(']');
}

void read_history(JsonReader& in, std::string_view name, std::vector<HistoryPoint>& points) {
  in.list(name, kHistoryPointsMax, [&](JsonReader& item) { read_point(item, points.emplace_back()); });
}

void write_projects(JsonWriter& out, const std::vector<ProjectView>& projects) {
  out.open("projects", '[');
  for (const ProjectView& project : projects) {
    out.open("", '{');
    out.text("name", project.name);
    out.text("display_name", project.display_name);
    out.text("address", project.address);
    out.number("share", project.share);
    out.number("trained_s", project.trained_s);
    out.boolean("current", project.current);
    out.close('}');
  }
  out.close(']');
}

void read_projects(JsonReader& in, std::vector<ProjectView>& projects) {
  in.list("projects", kProjectsShownMax, [&](JsonReader& item) {
    ProjectView& project = projects.emplace_back();
    item.text("name", project.name, kTextMax);
    item.text("display_name", project.display_name, kTextMax);
    item.text("address", project.address, kTextMax);
    item.number("share", project.share, 0, kNumberMax);
    item.number("trained_s", project.trained_s, 0, kNumberMax);
    item.boolean("current", project.current);
  });
}

void write_peers(JsonWriter& out, const PeersView& peers) {
  out.open("peers", '{');
  out.integer("round", peers.round);
  out.integer("members", peers.members);
  out.open("list", '[');
  for (const PeerView& peer : peers.peers) {
    out.open("", '{');
    out.text("peer", peer.peer.hex());
    out.text("role", peer.role);
    out.integer("samples", peer.samples);
    out.number("part", peer.part);
    out.boolean("relayed", peer.relayed);
    out.boolean("self", peer.self);
    out.number("upload_bytes_per_s", peer.upload_bytes_per_s);
    out.number("download_bytes_per_s", peer.download_bytes_per_s);
    out.number("round_trip_ms", peer.round_trip_ms);
    out.close('}');
  }
  out.close(']');
  out.close('}');
}

void read_peers(JsonReader& in, PeersView& peers) {
  in.integer("round", peers.round, 0, kCountMax);
  in.integer("members", peers.members, 0, kCountMax);
  in.list("list", kPeersShownMax, [&](JsonReader& item) {
    PeerView& peer = peers.peers.emplace_back();
    read_id(item, "peer", peer.peer);
    item.text("role", peer.role, kTextMax);
    item.integer("samples", peer.samples, 0, kCountMax);
    item.number("part", peer.part, 0, 1);
    item.boolean("relayed", peer.relayed);
    item.boolean("self", peer.self);
    if (!item.present("round_trip_ms")) return;  // an older daemon leaves it out
    item.number("upload_bytes_per_s", peer.upload_bytes_per_s, 0, kNumberMax);
    item.number("download_bytes_per_s", peer.download_bytes_per_s, 0, kNumberMax);
    item.number("round_trip_ms", peer.round_trip_ms, 0, kNumberMax);
  });
}

void write_remote(JsonWriter& out, const RemoteView& remote) {
  out.open("remote", '{');
  out.boolean("enabled", remote.enabled);
  out.text("address", remote.address);
  out.integer("port", remote.port);
  out.text("fingerprint", remote.fingerprint);
  if (!remote.token.empty()) out.text("token", remote.token);
  out.text("problem", remote.problem);
  out.integer("callers", remote.callers);
  out.close('}');
}

void read_remote(JsonReader& in, RemoteView& remote) {
  in.boolean("enabled", remote.enabled);
  in.text("address", remote.address, kTextMax);
  read_int(in, "port", remote.port, 0, 65535);
  in.text("fingerprint", remote.fingerprint, kTextMax);
  if (in.present("token")) in.text("token", remote.token, kTextMax);
  in.text("problem", remote.problem, kTextMax);
  read_int(in, "callers", remote.callers, 0, 1'000'000);
}

void write_leaderboard(JsonWriter& out, const LeaderboardView& leaderboard) {
  out.open("leaderboard", '{');
  out.text("project", leaderboard.project);
  out.text("sort", leaderboard.sort);
  out.integer("volunteers", leaderboard.volunteers);
  out.integer("page", leaderboard.page);
  out.integer("per_page", leaderboard.per_page);
  if (leaderboard.pinned) write_standing(out, "pinned", *leaderboard.pinned);
  out.open("rows", '[');
  for (const StandingView& row : leaderboard.rows) write_standing(out, "", row);
  out.close(']');
  out.close('}');
}

void read_leaderboard(JsonReader& in, LeaderboardView& leaderboard) {
  in.text("project", leaderboard.project, kTextMax);
  in.text("sort", leaderboard.sort, kTextMax);
  in.integer("volunteers", leaderboard.volunteers, 0, kCountMax);
  read_int(in, "page", leaderboard.page, 1, INT32_MAX);
  read_int(in, "per_page", leaderboard.per_page, 0, INT32_MAX);
  if (in.present("pinned")) {
    in.object("pinned", [&](JsonReader& row) { read_standing(row, leaderboard.pinned.emplace()); });
  }
  in.list("rows", kStandingsShownMax, [&](JsonReader& row) { read_standing(row, leaderboard.rows.emplace_back()); });
}

Result<LeaderboardView> decode_leaderboard(std::string_view json) {
  return decode_json<LeaderboardView>(json, "leaderboard", kReplyBytesMax, read_leaderboard);
}

void write_preview(JsonWriter& out, const ProjectPreview& preview) {
  out.open("preview", '{');
  out.text("address", preview.address);
  out.text("fingerprint", preview.fingerprint);
  out.text("project", preview.project);
  out.boolean("has_run", preview.has_run);
  out.text("run_title", preview.run_title);
  out.text("run_state", preview.run_state);
  out.integer("parameters", preview.parameters);
  out.integer("data_bytes", preview.data_bytes);
  out.integer("disk_bytes", preview.disk_bytes);
  out.integer("bytes_per_round", preview.bytes_per_round);
  out.integer("volunteers", preview.volunteers);
  out.integer("swarm_size", preview.swarm_size);
  out.number("bits_per_byte", preview.bits_per_byte);
  out.close('}');
}

void read_preview(JsonReader& in, ProjectPreview& preview) {
  in.text("address", preview.address, kTextMax);
  in.text("fingerprint", preview.fingerprint, kTextMax);
  in.text("project", preview.project, kTextMax);
  in.boolean("has_run", preview.has_run);
  in.text("run_title", preview.run_title, kTextMax);
  in.text("run_state", preview.run_state, kTextMax);
  in.integer("parameters", preview.parameters, 0, kCountMax);
  in.integer("data_bytes", preview.data_bytes, 0, kCountMax);
  in.integer("disk_bytes", preview.disk_bytes, 0, kCountMax);
  in.integer("bytes_per_round", preview.bytes_per_round, 0, kCountMax);
  in.integer("volunteers", preview.volunteers, 0, kCountMax);
  in.integer("swarm_size", preview.swarm_size, 0, kCountMax);
  in.number("bits_per_byte", preview.bits_per_byte, 0, kNumberMax);
}

}  // namespace starling::wire
