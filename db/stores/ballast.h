// A file that only takes up space, so that there is some left to give when the disk is full: the writes of that moment
// still succeed, and the operator is warned before any is refused.
#pragma once

#include <cstdint>
#include <filesystem>

#include "shared/base/clock.h"

namespace starling::db {

class Ballast {
 public:
  // 0 bytes: no ballast.
  Ballast(std::filesystem::path file, std::int64_t bytes);

  // Frees the space; false when there was none to free.
  bool release();
  // Lays it in where it is missing and the disk has room for several times its size. Tries rarely, so it may be called
  // often.
  void replenish(TimePoint now);

 private:
  bool write();

  std::filesystem::path file_;
  std::int64_t bytes_;
  bool held_ = false;
  TimePoint next_try_{};
};

}  // namespace starling::db
