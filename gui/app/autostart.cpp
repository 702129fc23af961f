#include "gui/app/autostart.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include "gui/link/daemon_starter.h"

namespace starling::app {
namespace {

const char kEntry[] = "autostart/starling-tray.desktop";

QString userEntry() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + QLatin1Char('/') +
         QLatin1String(kEntry);
}

// The entries in all folders for settings, the user's first.
QStringList entries() {
  return QStandardPaths::locateAll(QStandardPaths::GenericConfigLocation, QLatin1String(kEntry));
}

// Desktops switch an entry off by either of two keys.
bool switchedOff(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return true;
  const QByteArrayList lines = file.readAll().split('\n');
  return lines.contains("Hidden=true") || lines.contains("X-GNOME-Autostart-enabled=false");
}

QByteArray entryThatStarts() {
  return QStringLiteral(
             "[Desktop Entry]\nType=Application\nName=Starling\nExec=\"%1\" --hidden\nTryExec=%1\n"
             "X-GNOME-Autostart-enabled=true\nX-KDE-autostart-after=panel\n")
      .arg(link::thisProgram())
      .toUtf8();
}

}  // namespace

bool autostartOn() {
  const QStringList found = entries();
  return !found.isEmpty() && !switchedOff(found.first());
}

bool setAutostart(bool on) {
  QFile own(userEntry());
  if (!on && own.exists() && !own.remove()) return false;
  if (!on && entries().isEmpty()) return true;
  if (!QDir().mkpath(QFileInfo(own).path()) || !own.open(QIODevice::WriteOnly)) return false;
  const QByteArray entry = on ? entryThatStarts() : "[Desktop Entry]\nType=Application\nName=Starling\nHidden=true\n";
  return own.write(entry) > 0;
}

bool joinedAnything(const std::filesystem::path& data_dir) {
  std::error_code unreadable;
  if (std::filesystem::exists(data_dir / "project.json", unreadable)) return true;
  return !std::filesystem::is_empty(data_dir / "projects", unreadable) && !unreadable;
}

}  // namespace starling::app
