#include "gui/app/panel_icon.h"

#include <QDBusConnection>
#include <QDBusInterface>
#include <QVariant>

#include "gui/widgets/icons.h"

namespace starling::app {

bool panelKnowsNames() {
  const QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return false;
  const QString watcher = QStringLiteral("org.kde.StatusNotifierWatcher");
  const QDBusInterface panel(watcher, QStringLiteral("/StatusNotifierWatcher"), watcher, bus);
  return panel.isValid() && panel.property("IsStatusNotifierHostRegistered").toBool();
}

QIcon panelIcon(models::Face face, bool by_name, const QColor& color) {
  const QString name = QStringLiteral(STARLING_APP_ID "-%1-symbolic").arg(widgets::drawingName(face));
  if (by_name && QIcon::hasThemeIcon(name)) return QIcon::fromTheme(name);
  return widgets::faceIcon(face, color);
}

}  // namespace starling::app
