#include "gui/app/single_instance.h"

#include <QLocalSocket>

namespace starling::app {
namespace {

constexpr int kHandOverMs = 1000;
constexpr qint64 kMessageBytesMax = 1024;

}  // namespace

SingleInstance::SingleInstance(const std::filesystem::path& data_dir, QObject* parent)
    : QObject(parent), path_(QString::fromStdString((data_dir / "window.sock").string())) {
  server_.setSocketOptions(QLocalServer::UserAccessOption);
  connect(&server_, &QLocalServer::newConnection, this, &SingleInstance::answer);
}

bool SingleInstance::handOver(const QString& message) const {
  QLocalSocket socket;
  socket.connectToServer(path_);
  if (!socket.waitForConnected(kHandOverMs)) return false;
  socket.write(message.toUtf8() + '\n');
  return socket.waitForBytesWritten(kHandOverMs);
}

bool SingleInstance::listen() {
  QLocalServer::removeServer(path_);  // left behind by an instance that crashed; handOver() has found none
  return server_.listen(path_);
}

void SingleInstance::answer() {
  QLocalSocket* socket = server_.nextPendingConnection();
  connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
  const auto read = [this, socket] {
    if (!socket->canReadLine() && socket->bytesAvailable() < kMessageBytesMax) return;
    emit called(QString::fromUtf8(socket->readLine(kMessageBytesMax)).trimmed());
    socket->disconnectFromServer();
  };
  connect(socket, &QLocalSocket::readyRead, this, read);
  if (socket->bytesAvailable() > 0) read();
}

}  // namespace starling::app
