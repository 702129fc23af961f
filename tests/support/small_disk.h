// A small file system in memory that can be full. Only the thread that made it, and threads and processes that it
// starts, can see it.
#pragma once

#include <cstdint>

#include "tests/support/temp_dir.h"

namespace starling::testing {

class SmallDisk {
 public:
  // Skips the test if the system forbids mounts: neither root nor user namespaces.
  explicit SmallDisk(std::int64_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TempDir folder_;
};

}  // namespace starling::testing
