#include "tests/gui/support/false_daemon.h"

#include <QLocalSocket>

#include "shared/base/verify.h"
#include "tests/gui/support/qt_test.h"

namespace starling::testing {

FalseDaemon::FalseDaemon(const wire::DaemonStatus& status) : status_(status) {
  need_qt();
  QObject::connect(&server_, &QLocalServer::newConnection, &server_, [this] {
    QLocalSocket* caller = server_.nextPendingConnection();
    QObject::connect(caller, &QLocalSocket::readyRead, &server_, [this, caller] { answer(*caller); });
    QObject::connect(caller, &QLocalSocket::disconnected, caller, &QObject::deleteLater);
  });
  VERIFY(server_.listen(QString::fromStdString((dir_ / "control.sock").string())));
}

void FalseDaemon::tell(const wire::DaemonStatus& status) {
  const std::int64_t revision = status_.revision + 1;
  status_ = status;
  status_.revision = revision;
}

void FalseDaemon::answer(QLocalSocket& caller) const {
  while (caller.canReadLine()) {
    const auto request = wire::decode_control_request(caller.readLine().trimmed().toStdString());
    wire::ControlReply reply;
    if (request.ok() && std::holds_alternative<wire::GetStatus>(*request)) reply.status = status_;
    if (request.ok() && std::holds_alternative<wire::GetPreferences>(*request)) reply.preferences.emplace();
    if (request.ok() && std::holds_alternative<wire::GetHistory>(*request)) reply.history.emplace();
    caller.write(QByteArray::fromStdString(wire::encode_line(reply)));
  }
}

wire::DaemonStatus checked_member(const wire::CheckedWork& checked) {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::training;
  status.membership.project = "Birdsong";
  status.swarm.size = 8;
  status.rules.threads = 4;
  status.checked = checked;
  if (!checked.verdict.empty()) status.problems.push_back(checked.verdict);
  return status;
}

}  // namespace starling::testing
