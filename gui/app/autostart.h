// Whether Starling starts when the volunteer logs in: a desktop entry in the user's autostart folder.
#pragma once

namespace starling::app {

bool autostartOn();
// False when the file cannot be written.
bool setAutostart(bool on);

}  // namespace starling::app
