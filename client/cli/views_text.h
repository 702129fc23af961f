// The daemon's views as text for people (shared/control/control_views.h).
#pragma once

#include <string>

#include "shared/control/control.h"

namespace starling::cli {

std::string format_preview(const wire::ProjectPreview& preview);
std::string format_leaderboard(const wire::LeaderboardView& leaderboard);
// The volunteer's own row, with the name of this computer.
std::string format_me(const wire::DaemonStatus& status, const wire::LeaderboardView& board);
std::string format_projects(const std::vector<wire::ProjectView>& projects);
std::string format_team(const wire::TeamReply& team);
// Includes the command to type on the other computer.
std::string format_remote(const wire::RemoteView& remote);
std::string format_peers(const wire::PeersView& peers);
// A line for each stretch of time, in local time.
std::string format_history(const std::vector<wire::HistoryPoint>& points);

}  // namespace starling::cli
