// Whether Starling starts at the volunteer's login: by a desktop entry in the user's autostart folder, or else by one
// that a package installed for everybody. The package's entry passes --at-login, which does nothing for a user who has
// joined no project; the user's own entry has an equal name and takes precedence, also to switch it off.
#pragma once

#include <filesystem>

namespace starling::app {

bool autostartOn();
// False if the file cannot be written.
bool setAutostart(bool on);
// Whether the data directory belongs to a volunteer of any project.
bool joinedAnything(const std::filesystem::path& data_dir);

}  // namespace starling::app
