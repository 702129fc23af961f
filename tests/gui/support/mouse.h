// A hand on mouse and keyboard: events as a windowing system sends them.
#pragma once

class QString;
class QWidget;

namespace starling::testing {

// In the middle of it; whatever lies in front there gets the click instead.
void click(QWidget& widget);
void type(QWidget& widget, const QString& text);
// To whatever has the keyboard.
void press(int key);
// Goes on by the tabulator until that control has the keyboard. False: it cannot be reached.
bool tab_to(const QWidget& widget);

}  // namespace starling::testing
