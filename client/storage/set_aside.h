// Handling of damaged files: they are moved out of the way and kept for people to look at.
#pragma once

#include <filesystem>
#include <string>

#include "shared/base/result.h"

namespace starling::storage {

// Renames `path` to a free name "<path>.corrupt", "<path>.corrupt.2", …, and logs why. Returns the logged text.
Result<std::string> set_aside(const std::filesystem::path& path, const std::string& reason);

// Removes the temporary files of interrupted atomic writes from `folder`. Only the folder's owner may call this.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace starling::storage
