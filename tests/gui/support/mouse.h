// Simulated use of mouse and keyboard: events as a windowing system sends them.
#pragma once

class QString;
class QWidget;

namespace starling::testing {

// Clicks the widget's middle; a widget in front of it there gets the click instead.
void click(QWidget& widget);
void type(QWidget& widget, const QString& text);
// Presses the key in the widget that has the focus.
void press(int key);
// Presses the tab key until that control has the focus. False: it cannot be reached.
bool tab_to(const QWidget& widget);

}  // namespace starling::testing
