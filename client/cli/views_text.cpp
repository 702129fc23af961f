#include "client/cli/views_text.h"

#include <fmt/core.h>

#include <ctime>
#include <functional>

#include "client/cli/status_text.h"
#include "shared/leaderboard/columns.h"
#include "shared/wire/web_address.h"

namespace starling::cli {
namespace {

using leaderboard::Board;
using leaderboard::Unit;

std::string local_time(WallTime when) {
  const std::time_t seconds = when.unix_ms / 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local)};
}

double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// `figure` makes the text of a column, by its place in the table.
std::string board_line(std::string_view rank, std::string_view name,
                       const std::function<std::string(std::size_t)>& figure) {
  std::string line = fmt::format("{:>6}  {:<40}", rank, name);
  for (std::size_t i = 0; i < leaderboard::kColumns.size(); ++i) {
    if (leaderboard::kColumns[i].text.empty()) continue;
    line += fmt::format("  {:>{}}", figure(i), leaderboard::kColumns[i].unit == Unit::samples ? 12 : 14);
  }
  return line + "\n";
}

std::string standing_line(const wire::StandingView& row) {
  return board_line(std::to_string(row.rank), row.name, [&](std::size_t i) {
    return fmt::format("{:.{}f}", row.figures.at(i), leaderboard::kColumns[i].unit == Unit::samples ? 0 : 6);
  });
}

std::string link_words(const wire::PeerView& peer) {
  std::string text;
  if (peer.upload_bytes_per_s > 0) text += fmt::format("  up {}/s", bytes_text(peer.upload_bytes_per_s));
  if (peer.download_bytes_per_s > 0) text += fmt::format("  down {}/s", bytes_text(peer.download_bytes_per_s));
  if (peer.round_trip_ms > 0) text += fmt::format("  {:.1f} ms", peer.round_trip_ms);
  return text + (peer.relayed ? "  over a relay" : "");
}

}  // namespace

std::string format_preview(const wire::ProjectPreview& p) {
  std::string text = fmt::format("{} at {}\n  key        {}\n", p.project, p.address, p.fingerprint.substr(0, 16));
  if (!p.has_run) return text + "  run        none yet\n";
  text += fmt::format("  run        {} ({})\n", p.run_title, p.run_state);
  text += fmt::format("  model      {:.2f} million parameters", static_cast<double>(p.parameters) / 1e6);
  if (p.bits_per_byte > 0) text += fmt::format(", {:.3f} bits per byte so far", p.bits_per_byte);
  text += fmt::format("\n  download   {:.1f} MB, once; {:.1f} MB of disk\n", megabytes(p.data_bytes),
                      megabytes(p.disk_bytes));
  text += fmt::format("  network    about {:.1f} MB a round each way", megabytes(p.bytes_per_round));
  if (p.bytes_per_hour > 0) {
    text += fmt::format("; an hour at the present pace sends {0}, and receives as much",
                        bytes_text(static_cast<double>(p.bytes_per_hour)));
  }
  text += "\n";
  return text + fmt::format("  volunteers {} so far, {} training now\n", p.volunteers, p.swarm_size);
}

std::string format_leaderboard(const wire::LeaderboardView& board) {
  std::string text =
      fmt::format("{}: {} volunteers, by {}, page {}\n", board.project, board.volunteers, board.sort, board.page);
  text += board_line("rank", "name", [](std::size_t i) { return std::string(leaderboard::kColumns[i].text); });
  for (const wire::StandingView& row : board.rows) text += standing_line(row);
  if (board.pinned) text += "you:\n" + standing_line(*board.pinned);
  return text;
}

std::string format_me(const wire::DaemonStatus& status, const wire::LeaderboardView& board) {
  std::string text = fmt::format("{} in {}, from computer {}\n", status.membership.display_name,
                                 status.membership.project, status.membership.peer.brief());
  if (!board.pinned) return text + "  nothing credited yet: that comes with the first finished round\n";
  const wire::StandingView& me = *board.pinned;
  text += fmt::format("  rank       {} of {}, by recent credit\n", me.rank, board.volunteers);
  text += fmt::format("  credit     {:.6f}, recently {:.6f} a day\n", me.figures.of(Board::total, Unit::credit),
                      me.figures.of(Board::recent, Unit::credit_per_day));
  return text + fmt::format("  samples    {:.0f} accepted; {:.0f} in the last day, {:.0f} in the last week\n",
                            me.figures.of(Board::total, Unit::samples), me.figures.of(Board::day, Unit::samples),
                            me.figures.of(Board::week, Unit::samples));
}

std::string format_projects(const std::vector<wire::ProjectView>& projects) {
  if (projects.empty()) return "none; join one with: starling join LINK --name NAME\n";
  double shares = 0;
  for (const wire::ProjectView& project : projects) shares += project.share;
  std::string text;
  for (const wire::ProjectView& project : projects) {
    const double percent = shares > 0 ? 100 * project.share / shares : 0;
    text += fmt::format("{} {:<24} {:<28} as {:<16} {:>3.0f} % of the time (share {:g}), {:.1f} h trained\n",
                        project.current ? "*" : " ", project.name, project.address, project.display_name, percent,
                        project.share, project.trained_s / 3600);
  }
  return text + (projects.size() > 1 ? "* is the one whose turn it is.\n" : "");
}

std::string format_team(const wire::TeamReply& team) {
  if (team.name.empty()) return "you are in no team; starling team join NAME, or starling team found NAME\n";
  std::string text = fmt::format("{}, founded by {}\n  members    {}\n", team.name, team.founder, team.members);
  if (team.rank > 0) text += fmt::format("  rank       {}, by recent credit\n", team.rank);
  return text + fmt::format("  credit     {:.6f}, recently {:.6f} a day\n", team.credit, team.recent_average);
}

std::string format_remote(const wire::RemoteView& remote) {
  if (!remote.enabled) return "other computers cannot control this daemon; starling remote enable lets them\n";
  if (!remote.problem.empty()) return fmt::format("enabled, but nobody can call: {}\n", remote.problem);
  const bool any = remote.address == "0.0.0.0" || remote.address == "::";
  const std::string at = wire::format_host_and_port(any ? "THIS-COMPUTER" : remote.address, remote.port);
  std::string text =
      fmt::format("listening on {} port {}; {} connected\n", remote.address, remote.port, remote.callers);
  if (remote.address == "127.0.0.1" || remote.address == "::1") {
    text += "  Only programs on this computer get there: --listen takes the address that others are to call.\n";
  }
  if (!remote.token.empty()) {
    text +=
        fmt::format("The token, told this once; keep it in a file that only you can read:\n\n  {}\n\n", remote.token);
  }
  return text + fmt::format("From another computer:\n\n  starling --daemon {}#{} --token-file FILE status\n", at,
                            remote.fingerprint);
}

std::string format_peers(const wire::PeersView& peers) {
  if (peers.members == 0) return "no averaging yet\n";
  std::string text = fmt::format("round {}: {} members\n", peers.round, peers.members);
  for (const wire::PeerView& peer : peers.peers) {
    text += fmt::format("  {}  {:<11}  {:>8} samples  {:>5.1f} % of the vector{}{}\n", peer.peer.brief(), peer.role,
                        peer.samples, 100 * peer.part, link_words(peer), peer.self ? "  (this computer)" : "");
  }
  return text;
}

std::string format_history(const std::vector<wire::HistoryPoint>& points) {
  if (points.empty()) return "no finished rounds yet\n";
  std::string text;
  for (const wire::HistoryPoint& point : points) {
    text += fmt::format("{}  round {:>7}  {:>5} rounds  {:>8} samples  loss {:.3f}  credit {:.6f}  {:.1f} MB\n",
                        local_time(point.begin), point.round, point.rounds, point.samples, point.loss, point.credit,
                        megabytes(point.bytes));
  }
  return text;
}

}  // namespace starling::cli
