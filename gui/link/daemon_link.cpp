#include "gui/link/daemon_link.h"

#include <utility>

namespace starling::link {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDeadline{15000};
// The deadline of commands that wait for the coordinator, the disk, or the model.
constexpr milliseconds kLongDeadline{120000};

template <typename... Commands>
bool isOneOf(const wire::ControlRequest& request) {
  return (std::holds_alternative<Commands>(request) || ...);
}

milliseconds deadlineOf(const wire::ControlRequest& request) {
  const bool is_long =
      isOneOf<wire::JoinProject, wire::LeaveProject, wire::SampleText, wire::PreviewProject, wire::GetLeaderboard>(
          request);
  return is_long ? kLongDeadline : kDeadline;
}

}  // namespace

DaemonLink::DaemonLink(LinkOptions options, QObject* parent)
    : QObject(parent),
      options_(std::move(options)),
      socket_path_(QString::fromStdString((options_.data_dir / "control.sock").string())),
      watch_(socket_path_, nullptr) {
  next_.setSingleShot(true);
  connect(&next_, &QTimer::timeout, this, &DaemonLink::poll);
}

void DaemonLink::open() { next_.start(0); }

void DaemonLink::poll() {
  watch_.send(wire::GetStatus{revision_}, revision_ ? options_.silence_max : kDeadline,
              [this](const Reply& reply) { take(reply); });
}

void DaemonLink::take(const Reply& reply) {
  if (!reply.ok() || !reply->status.has_value()) {
    problem_ = reply.ok() ? Error{ErrorCode::corrupt, "the daemon's reply holds no status"} : reply.error();
    revision_.reset();  // the next daemon counts from the beginning
    next_.start(options_.retry);
    setState(LinkState::gone);
    return;
  }
  problem_ = {};
  revision_ = reply->status->revision;
  next_.start(options_.pace);
  setState(LinkState::connected);
  emit statusArrived(*reply->status);
}

void DaemonLink::setState(LinkState state) {
  if (state == state_) return;
  state_ = state;
  emit stateChanged();
}

void DaemonLink::ask(const wire::ControlRequest& request, ReplyHandler handler) {
  if (requests_ >= kRequestsMax) {
    const Error busy{ErrorCode::resource_exhausted, "too many requests wait for the daemon"};
    QMetaObject::invokeMethod(
        this, [handler = std::move(handler), busy] { handler(busy); }, Qt::QueuedConnection);
    return;
  }
  ++requests_;
  auto* channel = new ControlChannel(socket_path_, this);
  channel->send(request, deadlineOf(request), [this, channel, handler = std::move(handler)](const Reply& reply) {
    --requests_;
    channel->deleteLater();
    handler(reply);
  });
}

}  // namespace starling::link
