#include "gui/widgets/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace starling::widgets {
namespace {

constexpr int kSizes[] = {16, 22, 24, 32, 48, 64, 128};
const char kTemplateColor[] = "#123456";

QString fileOf(models::Face face) {
  switch (face) {
    case models::Face::training:
      return QStringLiteral(":/icons/training.svg");
    case models::Face::paused:
      return QStringLiteral(":/icons/paused.svg");
    case models::Face::waiting:
      return QStringLiteral(":/icons/waiting.svg");
    case models::Face::attention:
      return QStringLiteral(":/icons/attention.svg");
    case models::Face::disconnected:
      return QStringLiteral(":/icons/disconnected.svg");
  }
  return {};
}

}  // namespace

QIcon faceIcon(models::Face face, const QColor& color) {
  QFile file(fileOf(face));
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
