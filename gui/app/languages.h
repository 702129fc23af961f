// The languages of the window: English in the sources (its plurals in a file), Russian in a file.
#pragma once

#include <QString>

namespace starling::app {

// "en", "ru", or "system". Call it before windows are made.
void applyLanguage(const QString& language);

}  // namespace starling::app
