// Names that are too like another one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::db {

// Two names of one kind that look alike, or are the same but for case. They are from before that was forbidden, and
// both are kept.
struct NameClash {
  std::string kind;  // "account", "team" or "operator"
  std::string name;
  std::string like;  // the earlier one
};

// All of a database that this version has opened before: in a file, or at the address of one on a server.
Result<std::vector<NameClash>> clashing_names(const std::filesystem::path& file);
Result<std::vector<NameClash>> clashing_names_at(const std::string& url);

}  // namespace starling::db
