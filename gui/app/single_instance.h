// One window per data directory: a second start passes its request to the first, and ends.
#pragma once

#include <QLocalServer>
#include <QObject>
#include <QString>
#include <filesystem>

namespace starling::app {

class SingleInstance : public QObject {
  Q_OBJECT

 public:
  explicit SingleInstance(const std::filesystem::path& data_dir, QObject* parent = nullptr);

  // True if another instance runs and has received the message: a join link, or an empty text, which only shows the
  // window.
  bool handOver(const QString& message) const;
  // From now on, later starts arrive as called().
  bool listen();

 signals:
  void called(const QString& message);

 private:
  void answer();

  QString path_;
  QLocalServer server_;
};

}  // namespace starling::app
