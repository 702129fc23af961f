#include "tests/gui/support/mouse.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWidget>

namespace starling::testing {
namespace {

void send(QWidget& widget, QEvent::Type type, QPointF at, Qt::MouseButtons pressed) {
  QMouseEvent event(type, at, widget.mapToGlobal(at), Qt::LeftButton, pressed, Qt::NoModifier);
  QApplication::sendEvent(&widget, &event);
}

}  // namespace

void click(QWidget& widget) {
  // A check box is wide, and its text may be short: the click goes to its beginning.
  const QPoint at(qMin(widget.width() / 2, 12), widget.height() / 2);
  QWidget* window = widget.window();
  QWidget* hit = window->childAt(widget.mapTo(window, at));
  if (hit == nullptr) return;
  const QPointF place = hit->mapFrom(window, widget.mapTo(window, at));
  send(*hit, QEvent::MouseButtonPress, place, Qt::LeftButton);
  send(*hit, QEvent::MouseButtonRelease, place, Qt::NoButton);
}

void type(QWidget& widget, const QString& text) {
  widget.setFocus();
  for (const QChar letter : text) {
    QKeyEvent press(QEvent::KeyPress, 0, Qt::NoModifier, QString(letter));
    QApplication::sendEvent(&widget, &press);
  }
}

void press(int key) {
  QWidget* focused = QApplication::focusWidget();
  if (focused == nullptr) return;
  const QString text = key == Qt::Key_Space ? QStringLiteral(" ") : QString();
  for (const QEvent::Type type : {QEvent::KeyPress, QEvent::KeyRelease}) {
    QKeyEvent event(type, key, Qt::NoModifier, text);
    QApplication::sendEvent(focused, &event);
  }
}

bool tab_to(const QWidget& widget) {
  constexpr int kControlsMax = 200;
  for (int i = 0; i < kControlsMax && QApplication::focusWidget() != &widget; ++i) press(Qt::Key_Tab);
  return QApplication::focusWidget() == &widget;
}

}  // namespace starling::testing
