#include "db/stores/ballast.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

namespace starling::db {
namespace {

constexpr Duration kRetryEvery = from_ms(10'000);
constexpr std::uintmax_t kRoomFactor = 4;  // a ballast is laid in when this many times its size is free

}  // namespace

Ballast::Ballast(std::filesystem::path file, std::int64_t bytes) : file_(std::move(file)), bytes_(bytes) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file_, missing);
  held_ = !missing && bytes_ > 0 && size >= static_cast<std::uintmax_t>(bytes_);
}

bool Ballast::release() {
  if (!held_) return false;
  held_ = false;
  std::error_code ignored;
  return std::filesystem::remove(file_, ignored);
}

void Ballast::replenish(TimePoint now) {
  if (held_ || bytes_ == 0 || now < next_try_) return;
  next_try_ = now + kRetryEvery;
  std::error_code failed;
  const auto space = std::filesystem::space(file_.parent_path(), failed);
  if (failed || space.available < kRoomFactor * static_cast<std::uintmax_t>(bytes_)) return;
  held_ = write();
  if (!held_) std::filesystem::remove(file_, failed);
}

bool Ballast::write() {
  const int fd = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool reserved = ::posix_fallocate(fd, 0, bytes_) == 0;
  ::close(fd);
  return reserved;
}

}  // namespace starling::db
