// The five states as icons: a starling and a sign beside it, so that none is told by colour alone.
#pragma once

#include <QColor>
#include <QIcon>

#include "gui/models/situation.h"

namespace starling::widgets {

// "training", "paused", …: what its drawing is called.
QString drawingName(models::Face face);
QIcon faceIcon(models::Face face, const QColor& color);

}  // namespace starling::widgets
