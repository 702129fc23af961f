#include "gui/widgets/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace starling::widgets {
namespace {

constexpr int kSizes[] = {16, 22, 24, 32, 48, 64, 128};
const char kTemplateColor[] = "#123456";

}  // namespace

QString drawingName(models::Face face) {
  switch (face) {
    case models::Face::training:
      return QStringLiteral("training");
    case models::Face::paused:
      return QStringLiteral("paused");
    case models::Face::waiting:
      return QStringLiteral("waiting");
    case models::Face::attention:
      return QStringLiteral("attention");
    case models::Face::disconnected:
      return QStringLiteral("disconnected");
  }
  return {};
}

QIcon faceIcon(models::Face face, const QColor& color) {
  QFile file(QStringLiteral(":/icons/%1.svg").arg(drawingName(face)));
  if (!file.open(QIODevice::ReadOnly)) return {};
  QSvgRenderer renderer(file.readAll().replace(kTemplateColor, color.name().toLatin1()));
  QIcon icon;
  for (const int size : kSizes) {
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    icon.addPixmap(pixmap);
  }
  return icon;
}

}  // namespace starling::widgets
