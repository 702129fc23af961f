#include "gui/app/window_settings.h"

namespace starling::app {
namespace {

const char kTheme[] = "theme";
const char kLanguage[] = "language";
const char kGeometry[] = "geometry";

QString key(const char* name) { return QString::fromLatin1(name); }

}  // namespace

WindowSettings::WindowSettings(const std::filesystem::path& data_dir)
    : settings_(QString::fromStdString((data_dir / "window.ini").string()), QSettings::IniFormat) {}

QString WindowSettings::theme() const { return settings_.value(key(kTheme), QStringLiteral("system")).toString(); }

void WindowSettings::setTheme(const QString& theme) { settings_.setValue(key(kTheme), theme); }

QString WindowSettings::language() const {
  return settings_.value(key(kLanguage), QStringLiteral("system")).toString();
}

void WindowSettings::setLanguage(const QString& language) { settings_.setValue(key(kLanguage), language); }

bool WindowSettings::firstTime(const QString& what) {
  const QString name = QStringLiteral("explained/") + what;
  if (settings_.value(name).toBool()) return false;
  settings_.setValue(name, true);
  return true;
}

QByteArray WindowSettings::geometry() const { return settings_.value(key(kGeometry)).toByteArray(); }

void WindowSettings::setGeometry(const QByteArray& geometry) { settings_.setValue(key(kGeometry), geometry); }

}  // namespace starling::app
