// A connection to the daemon's control socket (shared/control/control.h) that never blocks: a request, then its reply.
#pragma once

#include <QByteArray>
#include <QLocalSocket>
#include <QObject>
#include <QString>
#include <QTimer>
#include <chrono>
#include <functional>

#include "shared/base/result.h"
#include "shared/control/control.h"

namespace starling::link {

// A refusal by the daemon is an Error as well.
using Reply = Result<wire::ControlReply>;
using ReplyHandler = std::function<void(const Reply&)>;

class ControlChannel : public QObject {
  Q_OBJECT

 public:
  ControlChannel(QString socket_path, QObject* parent);
  // Drops the pending reply without calling its handler.
  ~ControlChannel() override;

  // Connects first if needed. `handler` runs once, later, on this thread. Errors: unavailable: no daemon listens or it
  // ended; deadline_exceeded: it stayed silent. Call it only after the previous request has been answered.
  void send(const wire::ControlRequest& request, std::chrono::milliseconds deadline, ReplyHandler handler);

 private:
  void readReply();
  void fail(ErrorCode code, const std::string& message);
  void finish(Reply reply);

  QString socket_path_;
  QLocalSocket socket_;
  QTimer deadline_;
  QByteArray unsent_;
  QByteArray received_;
  ReplyHandler handler_;
};

}  // namespace starling::link
