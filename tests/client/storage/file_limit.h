// A disk that is full, as far as this process can tell.
#pragma once

#include <sys/resource.h>

namespace starling::storage::testing {

// While it lives no file may grow beyond `bytes`: writing fails as on a full disk.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes);
  ~FileLimit();
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace starling::storage::testing
