// What to do with files that are not what they should be: keep them, out of the way, for people to look at.
#pragma once

#include <filesystem>
#include <string>

#include "shared/base/result.h"

namespace starling::storage {

// Renames `path` to a free name "<path>.corrupt", "<path>.corrupt.2", …, and logs why. Returns what it logged.
Result<std::string> set_aside(const std::filesystem::path& path, const std::string& reason);

// Removes what interrupted atomic writes left in `folder`. Only its one owner may call this.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace starling::storage
