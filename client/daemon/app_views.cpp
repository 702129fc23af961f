// The daemon's answers beside its status: from memory, or from a coordinator.
#include <utility>

#include "client/daemon/app.h"

namespace starling::daemon {
namespace {

template <typename T>
void put(Result<T> found, std::optional<T>& into, wire::ControlReply& reply) {
  if (found.ok()) {
    into = std::move(*found);
  } else {
    reply.error = found.error();
  }
}

}  // namespace

wire::ControlReply App::recall(const wire::ControlRequest& request) {
  wire::ControlReply reply;
  const auto* const history = std::get_if<wire::GetHistory>(&request);
  const auto span = history != nullptr ? wire::history_span(history->span) : std::nullopt;
  if (history != nullptr && !span) {
    reply.error = Error{ErrorCode::invalid_argument, "a history's span is rounds, day, month or all"};
    return reply;
  }
  const bool ran = loops_.control.run_and_wait([&] {
    if (span) {
      reply.history =
          current() != nullptr ? current()->history.history().points(*span) : std::vector<wire::HistoryPoint>();
    } else {
      reply.peers = run_ ? run_->peers() : wire::PeersView();
    }
  });
  if (!ran) reply.error = Error{ErrorCode::unavailable, "the daemon is ending"};
  return reply;
}

wire::ControlReply App::arrange_remote(const wire::ArrangeRemote& request) {
  wire::ControlReply reply;
  const MutexLock lock(remote_.mutex);
  if (request.action == "enable") {
    put(remote_.door->enable(request.listen, request.port), reply.remote, reply);
  } else if (request.action == "disable") {
    if (const Status shut = remote_.door->disable(); !shut.ok()) reply.error = shut.error();
    reply.remote = remote_.door->view();
  } else if (request.action == "show") {
    reply.remote = remote_.door->view();
  } else {
    reply.error = Error{ErrorCode::invalid_argument, "calls from other computers can be enabled, disabled and shown"};
  }
  return reply;
}

wire::ControlReply App::look_up(const wire::ControlRequest& request) {
  wire::ControlReply reply;
  std::optional<storage::Project> project;
  const bool ran = loops_.control.run_and_wait([&] {
    if (current() != nullptr) project = current()->project;
    if (governor_.verdict().network == policy::NetworkUse::none) {
      reply.error = Error{ErrorCode::failed_precondition, describe_obstacle(governor_.verdict())};
    }
  });
  if (!ran) reply.error = Error{ErrorCode::unavailable, "the daemon is ending"};
  if (reply.error.has_value()) return reply;
  if (const auto* const preview = std::get_if<wire::PreviewProject>(&request)) {
    put(look_ups_.preview(preview->link), reply.preview, reply);
  } else if (!project.has_value()) {
    reply.error = Error{ErrorCode::failed_precondition, "no project was joined yet: starling join LINK --name NAME"};
  } else if (const auto* const team = std::get_if<wire::ArrangeTeam>(&request)) {
    put(look_ups_.team(*project, host_.key, *team), reply.team, reply);
  } else if (const auto* const board = std::get_if<wire::GetLeaderboard>(&request)) {
    put(look_ups_.leaderboard(*project, *board), reply.leaderboard, reply);
  }
  return reply;
}

}  // namespace starling::daemon
