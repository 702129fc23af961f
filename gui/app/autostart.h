// Whether Starling starts when the volunteer logs in: a desktop entry in the user's autostart folder, or else the one
// that a package laid down for everybody. That one says --at-login, and does nothing for who has joined no project; the
// user's own, by the same name, goes before it, also to say no.
#pragma once

#include <filesystem>

namespace starling::app {

bool autostartOn();
// False when the file cannot be written.
bool setAutostart(bool on);
// Whether that data directory is a volunteer's of any project.
bool joinedAnything(const std::filesystem::path& data_dir);

}  // namespace starling::app
