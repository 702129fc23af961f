#include "gui/app/panel_icon.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <utility>

#include "gui/widgets/icons.h"

namespace starling::app {

void askWhetherPanelKnowsNames(QObject* context, std::function<void()> yes) {
  const QString watcher = QStringLiteral("org.kde.StatusNotifierWatcher");
  QDBusMessage question =
      QDBusMessage::createMethodCall(watcher, QStringLiteral("/StatusNotifierWatcher"),
                                     QStringLiteral("org.freedesktop.DBus.Properties"), QStringLiteral("Get"));
  question << watcher << QStringLiteral("IsStatusNotifierHostRegistered");
  auto* answer = new QDBusPendingCallWatcher(QDBusConnection::sessionBus().asyncCall(question), context);
  QObject::connect(answer, &QDBusPendingCallWatcher::finished, context, [answer, yes = std::move(yes)] {
    answer->deleteLater();
    const QDBusPendingReply<QDBusVariant> reply = *answer;
    if (!reply.isError() && reply.value().variant().toBool()) yes();
  });
}

QIcon panelIcon(models::Face face, bool by_name, const QColor& color) {
  const QString name = QStringLiteral(STARLING_APP_ID "-%1-symbolic").arg(widgets::drawingName(face));
  if (by_name && QIcon::hasThemeIcon(name)) return QIcon::fromTheme(name);
  return widgets::faceIcon(face, color);
}

}  // namespace starling::app
