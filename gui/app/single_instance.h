// One window for one data directory: a second start hands its wish to the first, and ends.
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

  // True when another one runs, and has got the message: a join link, or nothing, which only shows the window.
  bool handOver(const QString& message) const;
  // From now on, later starts come as called().
  bool listen();

 signals:
  void called(const QString& message);

 private:
  void answer();

  QString path_;
  QLocalServer server_;
};

}  // namespace starling::app
