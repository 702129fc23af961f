// The icon for the desktop's panel. A panel that draws icons by their names has colours of its own, and paints symbolic
// ones in them: it is told the name of one that this installation brought. Others get a drawing in the window's colour.
#pragma once

#include <QColor>
#include <QIcon>

#include "gui/models/situation.h"

namespace starling::app {

// Whether the desktop's panel draws icons by their names (a StatusNotifier host on the session's bus).
bool panelKnowsNames();
// `by_name`: what panelKnowsNames() said. Where no such icon is installed, a drawing all the same.
QIcon panelIcon(models::Face face, bool by_name, const QColor& color);

}  // namespace starling::app
