// A starlingd process with a data directory of its own.
#pragma once

#include <sys/types.h>

#include "tests/support/temp_dir.h"

namespace starling::testing {

class RealDaemon {
 public:
  RealDaemon() = default;
  ~RealDaemon();  // kills it
  RealDaemon(const RealDaemon&) = delete;
  RealDaemon& operator=(const RealDaemon&) = delete;

  void start();
  void signal(int number) const;
  void kill();  // SIGKILL, and waits for its end

  [[nodiscard]] const std::filesystem::path& data_dir() const { return dir_.path(); }
  static const char* program();

 private:
  TempDir dir_;
  pid_t pid_ = 0;
};

}  // namespace starling::testing
