// The commands of starling-release about roots, and about signatures that several people give one after the other.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::release {

struct RootOptions {
  std::filesystem::path file;     // a root or a feed
  std::filesystem::path root;     // the root before, or the one that a feed goes by; empty: none
  std::filesystem::path key;      // private; empty: none
  std::filesystem::path old_key;  // the one key of installations older than roots; empty: none
  std::filesystem::path out;
  std::vector<std::filesystem::path> keys;  // public
  std::vector<std::string> replaced;        // names of keys that a new root leaves out
  int threshold = 2;
  int valid_days = 730;
};

// Each prints what it did, and returns the error of what it refused; then no file has changed.
Status make_root(const RootOptions& options);
Status rotate_root(const RootOptions& options);
Status sign_file(const RootOptions& options);
// permission_denied when signatures are missing.
Status show_file(const RootOptions& options);

}  // namespace starling::release
