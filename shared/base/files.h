// Whole-file reading and crash-safe writing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling {

// Reads the whole file; corrupt when it is larger than bytes_max, not_found when it is missing.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max);

// Properties of a file that is written whole.
struct WriteOptions {
  unsigned mode = 0644;  // permissions of the new file, independent of the umask
};
// Writes a temporary file beside the target, then calls fsync, rename, and fsync on the folder: after a crash the path
// holds the old bytes or the new ones, never a mix. On failure the old file stays and the temporary one is removed.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                             const WriteOptions& options = {});
// Writes content that lies in several places, in order, and otherwise as above.
Status write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces,
                             const WriteOptions& options = {});

// Writes to a path that a person named. A file is replaced as above, also behind a symbolic link, which stays; what is
// no file (a device, a pipe, a terminal) is written into.
Status write_where_told(const std::filesystem::path& path, std::string_view bytes, const WriteOptions& options = {});

// Forces a file's bytes, or a folder's entries, to the disk.
Status sync_to_disk(const std::filesystem::path& path);

// Creates `path` (and parents) with `mode`; succeeds if it exists already.
Status ensure_directory(const std::filesystem::path& path, unsigned mode = 0700);

// Holds an exclusive lock on a file for as long as it lives: one process per data directory.
class FileLock {
 public:
  // already_exists when another process holds it.
  static Result<FileLock> acquire(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace starling
