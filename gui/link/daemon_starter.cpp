#include "gui/link/daemon_starter.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>

namespace starling::link {

// ROOT/versions/1.2.0/bin -> ROOT/current/bin; client/updates/installation.h has the layout.
QString lastingFolder(const QString& folder) {
  const QString root = folder + QStringLiteral("/../../..");
  const QString current = QDir::cleanPath(root + QStringLiteral("/current/bin"));
  const bool updates_itself = QFileInfo(root + QStringLiteral("/installation.json")).isFile();
  return updates_itself && QFileInfo(current).isDir() ? current : folder;
}

QString programFolder() { return lastingFolder(QCoreApplication::applicationDirPath()); }

QString thisProgram() {
  return programFolder() + QLatin1Char('/') + QFileInfo(QCoreApplication::applicationFilePath()).fileName();
}

QString successorOf(const QString& program) {
  const QFileInfo own(program);
  const QFileInfo lasting(lastingFolder(own.path()) + QLatin1Char('/') + own.fileName());
  const bool same = own.canonicalFilePath() == lasting.canonicalFilePath();
  return same || !lasting.isExecutable() ? QString() : lasting.filePath();
}

QString findProgram(const QString& name) {
  const QString beside = QStandardPaths::findExecutable(name, {programFolder()});
  return beside.isEmpty() ? QStandardPaths::findExecutable(name) : beside;
}

Status startDaemon(const QString& program, const std::filesystem::path& data_dir) {
  if (!QFileInfo(program).isExecutable()) {
    return Error{ErrorCode::not_found,
                 "start the daemon: the program 'starlingd' is not installed; install Starling again"};
  }
  QProcess process;
  process.setProgram(program);
  process.setArguments({QStringLiteral("--data-dir"), QString::fromStdString(data_dir.string())});
  // The daemon writes its log into its data directory.
  process.setStandardOutputFile(QProcess::nullDevice());
  process.setStandardErrorFile(QProcess::nullDevice());
  if (process.startDetached()) return {};
  return Error{ErrorCode::unavailable, "start '" + program.toStdString() + "': " + process.errorString().toStdString()};
}

}  // namespace starling::link
