// Where a user's files live when nothing else is said.
#pragma once

#include <filesystem>

namespace starling {

// $STARLING_DATA_DIR, else $XDG_DATA_HOME/starling, else ~/.local/share/starling.
std::filesystem::path default_data_dir();

}  // namespace starling
