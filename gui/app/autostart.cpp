#include "gui/app/autostart.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include "gui/link/daemon_starter.h"

namespace starling::app {
namespace {

QString autostartFile() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
         QStringLiteral("/autostart/starling-tray.desktop");
}

}  // namespace

bool autostartOn() { return QFile::exists(autostartFile()); }

bool setAutostart(bool on) {
  QFile file(autostartFile());
  if (!on) return !file.exists() || file.remove();
  const qsizetype slash = file.fileName().lastIndexOf(QLatin1Char('/'));
  if (!QDir().mkpath(file.fileName().left(slash)) || !file.open(QIODevice::WriteOnly)) return false;
  const QString entry = QStringLiteral(
                            "[Desktop Entry]\nType=Application\nName=Starling\nExec=\"%1\" --hidden\n"
                            "X-GNOME-Autostart-enabled=true\n")
                            .arg(link::thisProgram());
  return file.write(entry.toUtf8()) > 0;
}

}  // namespace starling::app
