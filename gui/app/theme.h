// Light and dark. Colours come from the palette alone, so that nothing is unreadable in either.
#pragma once

#include <QString>

namespace starling::app {

// "light", "dark", or "system": what the desktop has told Qt. Once there is a QApplication; again at any time.
void applyTheme(const QString& theme);

}  // namespace starling::app
