#include "shared/net/artefact_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/crypto/digest.h"

namespace starling::net {
namespace {

Error io_error(std::string_view what, const std::filesystem::path& path) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::resource_exhausted : ErrorCode::io;
  return {code, std::string(what) + " '" + path.string() + "': " + std::strerror(errno)};
}

std::filesystem::path part_of(const std::filesystem::path& destination) { return destination.string() + ".part"; }

Status sync_folder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return io_error("open folder", folder);
  const bool synced = fsync(fd) == 0;
  Status status = synced ? Status() : io_error("sync folder", folder);
  close(fd);
  return status;
}

}  // namespace

Result<ArtefactFile> ArtefactFile::open(const std::filesystem::path& destination, std::int64_t bytes_expected) {
  const std::filesystem::path part = part_of(destination);
  const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return io_error("open", part);
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    const Error error = io_error("look at", part);
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
    if (written < 0) return io_error("write", part());
    bytes.remove_prefix(static_cast<std::size_t>(written));
    size_ += written;
  }
  return {};
}

Status ArtefactFile::clear() {
  if (ftruncate(fd_, 0) != 0) return io_error("empty", part());
  size_ = 0;
  return {};
}

Status ArtefactFile::finish(const Digest& sha256) {
  STARLING_ASSIGN(const Digest found, crypto::sha256_file(part()));
  if (size_ != expected_ || found != sha256) {
    unlink(part().c_str());
    return Error{ErrorCode::corrupt, "download '" + destination_.string() +
                                         "': the bytes that came are not those of digest " + sha256.brief() +
                                         "…; they were removed, try again"};
  }
  if (fsync(fd_) != 0) return io_error("sync", part());
  if (rename(part().c_str(), destination_.c_str()) != 0) return io_error("rename", part());
  const std::filesystem::path folder = destination_.parent_path();
  return sync_folder(folder.empty() ? "." : folder);
}

}  // namespace starling::net
