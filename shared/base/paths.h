// Default location of a user's files.
#pragma once

#include <filesystem>

namespace starling {

// $STARLING_DATA_DIR, else $XDG_DATA_HOME/starling, else ~/.local/share/starling, where ~ is the user's home by the
// system if $HOME is unset. Relative paths in XDG_DATA_HOME and HOME are ignored, as the XDG specification demands.
std::filesystem::path default_data_dir();

}  // namespace starling
