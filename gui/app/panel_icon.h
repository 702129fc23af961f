// The icon for the desktop's panel. A panel that draws icons by name has colours of its own, and paints symbolic icons
// in them: it gets the name of one that this installation provides. Others get a drawing in the window's colour.
#pragma once

#include <QColor>
#include <QIcon>
#include <functional>

#include "gui/models/situation.h"

class QObject;

namespace starling::app {

// Asks whether the desktop's panel draws icons by name (a StatusNotifier host on the session's bus), and calls `yes`
// later if it does and `context` still exists.
void askWhetherPanelKnowsNames(QObject* context, std::function<void()> yes);
// `by_name`: the panel draws icons by name. Returns a drawing nevertheless if no such icon is installed.
QIcon panelIcon(models::Face face, bool by_name, const QColor& color);

}  // namespace starling::app
