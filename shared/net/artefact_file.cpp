#include "shared/net/artefact_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "shared/base/files.h"
#include "shared/base/os_error.h"
#include "shared/crypto/digest.h"

namespace starling::net {
namespace {

std::filesystem::path part_of(const std::filesystem::path& destination) { return destination.string() + ".part"; }

}  // namespace

Result<ArtefactFile> ArtefactFile::open(const std::filesystem::path& destination, std::int64_t bytes_expected) {
  const std::filesystem::path part = part_of(destination);
  const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return os_error("open", part, errno);
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    const Error error = os_error("look at", part, errno);
    close(fd);
    return error;
  }
  ArtefactFile file(destination, fd, info.st_size, bytes_expected);
  if (file.size_ > bytes_expected) STARLING_TRY(file.clear());
  return file;
}

ArtefactFile::ArtefactFile(ArtefactFile&& other) noexcept
    : destination_(std::move(other.destination_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      expected_(other.expected_) {}

ArtefactFile::~ArtefactFile() {
  if (fd_ >= 0) close(fd_);
}

std::filesystem::path ArtefactFile::part() const { return part_of(destination_); }

Status ArtefactFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("write", part(), errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    size_ += written;
  }
  return {};
}

Status ArtefactFile::clear() {
  if (ftruncate(fd_, 0) != 0) return os_error("empty", part(), errno);
  size_ = 0;
  return {};
}

void ArtefactFile::remove() const { unlink(part().c_str()); }

Status ArtefactFile::finish(const Digest& sha256) {
  STARLING_ASSIGN(const Digest found, crypto::sha256_file(part()));
  if (size_ != expected_ || found != sha256) {
    remove();
    return Error{ErrorCode::corrupt, "download '" + destination_.string() +
                                         "': the bytes that came are not those of digest " + sha256.brief() +
                                         "…; they were removed, try again"};
  }
  if (fsync(fd_) != 0) return os_error("sync", part(), errno);
  if (rename(part().c_str(), destination_.c_str()) != 0) return os_error("rename", part(), errno);
  const std::filesystem::path folder = destination_.parent_path();
  return sync_to_disk(folder.empty() ? "." : folder);
}

}  // namespace starling::net
