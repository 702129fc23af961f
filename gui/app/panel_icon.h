// The icon for the desktop's panel. A panel that draws icons by their names has colours of its own, and paints symbolic
// ones in them: it is told the name of one that this installation brought. Others get a drawing in the window's colour.
#pragma once

#include <QColor>
#include <QIcon>
#include <functional>

#include "gui/models/situation.h"

class QObject;

namespace starling::app {

// Asks whether the desktop's panel draws icons by their names (a StatusNotifier host on the session's bus), and calls
// `yes` later if it does and `context` is there still.
void askWhetherPanelKnowsNames(QObject* context, std::function<void()> yes);
// `by_name`: what the panel said. Where no such icon is installed, a drawing all the same.
QIcon panelIcon(models::Face face, bool by_name, const QColor& color);

}  // namespace starling::app
