// What a screen reader would say.
#pragma once

#include <QStringList>

class QWidget;

namespace starling::testing {

// The controls below `root` that can be reached with the keyboard and have no name, by parent, class and object name.
QStringList nameless_controls(QWidget& root);

// The controls that can be seen below `root`, and that the tabulator does not lead to. The window must be active.
QStringList unreachable_controls(QWidget& root);

}  // namespace starling::testing
