#include "tests/gui/support/control_names.h"

#include <QAccessible>
#include <QWidget>

#include "tests/gui/support/mouse.h"

namespace starling::testing {
namespace {

// A control's parts are read as one with it: the line in a spin box, the view in a combo box.
bool is_part(const QWidget* widget) {
  for (const QWidget* parent = widget->parentWidget(); parent != nullptr; parent = parent->parentWidget()) {
    for (const char* whole : {"QAbstractSpinBox", "QComboBox", "QTabBar", "QAbstractItemView"}) {
      if (parent->inherits(whole)) return true;
    }
  }
  return false;
}

QString describe(const QWidget& widget) {
  return QString::fromUtf8(widget.parentWidget()->metaObject()->className()) + QLatin1Char('/') +
         QString::fromUtf8(widget.metaObject()->className()) + QLatin1Char(' ') + widget.objectName();
}

}  // namespace

QStringList nameless_controls(QWidget& root) {
  QStringList nameless;
  for (QWidget* widget : root.findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || is_part(widget) || widget->inherits("QTabWidget") ||
        widget->inherits("QTabBar") || widget->inherits("QLabel") || widget->isWindow()) {
      continue;
    }
    QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(widget);
    if (spoken == nullptr || !spoken->text(QAccessible::Name).isEmpty()) continue;
    nameless.append(describe(*widget));
  }
  return nameless;
}

QStringList unreachable_controls(QWidget& root) {
  QStringList unreachable;
  for (QWidget* widget : root.findChildren<QWidget*>()) {
    const bool wanted = (widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isVisible() && widget->isEnabled() &&
                        widget->focusProxy() == nullptr && !is_part(widget);
    if (wanted && !tab_to(*widget)) unreachable.append(describe(*widget));
  }
  return unreachable;
}

}  // namespace starling::testing
