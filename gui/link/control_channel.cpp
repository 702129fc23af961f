#include "gui/link/control_channel.h"

#include <string_view>
#include <utility>

#include "shared/base/verify.h"

namespace starling::link {
namespace {

constexpr qsizetype kReplyBytesMax = 2 * static_cast<qsizetype>(wire::kControlLineBytesMax);

}  // namespace

ControlChannel::ControlChannel(QString socket_path, QObject* parent)
    : QObject(parent), socket_path_(std::move(socket_path)) {
  deadline_.setSingleShot(true);
  connect(&deadline_, &QTimer::timeout, this,
          [this] { fail(ErrorCode::deadline_exceeded, "the daemon does not answer"); });
  connect(&socket_, &QLocalSocket::connected, this, [this] { socket_.write(std::exchange(unsent_, {})); });
  connect(&socket_, &QLocalSocket::readyRead, this, &ControlChannel::readReply);
  connect(&socket_, &QLocalSocket::errorOccurred, this, [this](QLocalSocket::LocalSocketError error) {
    if (error == QLocalSocket::SocketAccessError) {
      fail(ErrorCode::permission_denied, "the daemon belongs to another user");
    } else {
      fail(ErrorCode::unavailable, "the daemon is not running");
    }
  });
}

ControlChannel::~ControlChannel() { socket_.disconnect(this); }

void ControlChannel::send(const wire::ControlRequest& request, std::chrono::milliseconds deadline,
                          ReplyHandler handler) {
  VERIFY(!handler_);
  handler_ = std::move(handler);
  received_.clear();
  const std::string line = wire::encode_line(request);
  const auto bytes = QByteArray(line.data(), static_cast<qsizetype>(line.size()));
  deadline_.start(deadline);
  if (socket_.state() == QLocalSocket::ConnectedState) {
    socket_.write(bytes);
  } else {
    unsent_ = bytes;
    socket_.connectToServer(socket_path_);
  }
}

void ControlChannel::readReply() {
  received_ += socket_.readAll();
  const qsizetype end = received_.indexOf('\n');
  if (end < 0) {
    if (received_.size() > kReplyBytesMax) fail(ErrorCode::corrupt, "the daemon's reply is too long");
    return;
  }
  Reply reply = wire::decode_control_reply(std::string_view(received_.constData(), static_cast<std::size_t>(end)));
  if (reply.ok() && reply->error.has_value()) reply = *reply->error;
  finish(std::move(reply));
}

void ControlChannel::fail(ErrorCode code, const std::string& message) { finish(Error{code, message}); }

void ControlChannel::finish(Reply reply) {
  if (!handler_) return;
  deadline_.stop();
  // Bytes that still arrive belong to no request: the next one begins on a new connection.
  if (!reply.ok()) {
    const QSignalBlocker quiet(socket_);
    socket_.abort();
  }
  QMetaObject::invokeMethod(
      this, [handler = std::exchange(handler_, nullptr), reply = std::move(reply)] { handler(reply); },
      Qt::QueuedConnection);
}

}  // namespace starling::link
