// The five states as icons: a starling with a sign beside it, so that no state is shown by colour alone.
#pragma once

#include <QColor>
#include <QIcon>

#include "gui/models/situation.h"

namespace starling::widgets {

// The name of the state's drawing: "training", "paused", ….
QString drawingName(models::Face face);
QIcon faceIcon(models::Face face, const QColor& color);

}  // namespace starling::widgets
