// Default location of a user's files.
#pragma once

#include <filesystem>

namespace starling {

// $STARLING_DATA_DIR, else $XDG_DATA_HOME/starling, else ~/.local/share/starling.
std::filesystem::path default_data_dir();

}  // namespace starling
