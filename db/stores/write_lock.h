// Lets one process at a time write to a database or checkpoint it. The lock is a flock on a file beside the database:
// that of a killed process ends with it.
#pragma once

#include <filesystem>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

class WriteLock {
 public:
  // Creates the file when it is missing; does not lock yet.
  static Result<WriteLock> open(const std::filesystem::path& file);
  WriteLock(WriteLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  WriteLock& operator=(WriteLock&&) = delete;
  ~WriteLock();

  class Held {
   public:
    explicit Held(int fd) : fd_(fd) {}
    Held(Held&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Held& operator=(Held&&) = delete;
    ~Held();

   private:
    int fd_;
  };
  // unavailable when another process keeps it longer than `patience`.
  Result<Held> acquire(Duration patience) const;

 private:
  explicit WriteLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace starling::db
