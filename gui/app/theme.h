// Light and dark themes. Colours come from the palette alone, so that everything is readable in both.
#pragma once

#include <QString>

namespace starling::app {

// "light", "dark", or "system" for the desktop's setting as Qt knows it. Requires a QApplication; may be called
// repeatedly.
void applyTheme(const QString& theme);

}  // namespace starling::app
