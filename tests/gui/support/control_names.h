// Names and reach of controls, as a screen reader meets them.
#pragma once

#include <QStringList>

class QWidget;

namespace starling::testing {

// The controls below `root` that can be reached with the keyboard and have no name, by parent, class and object name.
QStringList nameless_controls(QWidget& root);

// The visible controls below `root` that the tab key does not reach. The window must be active.
QStringList unreachable_controls(QWidget& root);

}  // namespace starling::testing
