#include "gui/app/link_handler.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>

#include "gui/link/daemon_starter.h"

namespace starling::app {
namespace {

constexpr auto kEntry = "starling-tray-links.desktop";

// Whether an installed program handles these links: any desktop entry other than ours that takes them.
bool isClaimed() {
  const QStringList folders = QStandardPaths::standardLocations(QStandardPaths::ApplicationsLocation);
  for (const QString& folder : folders) {
    const QStringList names = QDir(folder).entryList({QStringLiteral("*tarling*.desktop")}, QDir::Files);
    for (const QString& name : names) {
      QFile file(folder + QLatin1Char('/') + name);
      if (name == QLatin1String(kEntry) || !file.open(QIODevice::ReadOnly)) continue;
      if (file.readAll().contains("x-scheme-handler/starling")) return true;
    }
  }
  return false;
}

}  // namespace

void claimLinks() {
  if (isClaimed()) return;
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::ApplicationsLocation);
  const QByteArray entry =
      QStringLiteral(
          "[Desktop Entry]\nType=Application\nName=Starling\nTryExec=%1\nExec=\"%1\" %u\nNoDisplay=true\n"
          "MimeType=x-scheme-handler/starling;\n")
          .arg(link::thisProgram())
          .toUtf8();
  QFile file(folder + QLatin1Char('/') + QLatin1String(kEntry));
  if (file.open(QIODevice::ReadOnly) && file.readAll() == entry) return;
  file.close();
  if (!QDir().mkpath(folder) || !file.open(QIODevice::WriteOnly) || file.write(entry) < 0) return;
  file.close();
  const QString tool = QStandardPaths::findExecutable(QStringLiteral("xdg-mime"));
  if (tool.isEmpty()) return;  // the entry alone suffices on most desktops
  QProcess::startDetached(
      tool, {QStringLiteral("default"), QLatin1String(kEntry), QStringLiteral("x-scheme-handler/starling")});
}

}  // namespace starling::app
