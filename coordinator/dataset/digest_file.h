// A file that is written once and then named after the digest of its content.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "shared/base/files.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/crypto/digest.h"
#include "shared/run/data_options.h"

namespace starling::dataset {

class DigestFile {
 public:
  // Creates the file in `folder`. Until it is finished it has a name with this process's id, and a lock that tells it
  // from an abandoned one; a process writes one at a time. Abandoned files of other processes are removed.
  static Result<DigestFile> create(const std::filesystem::path& folder);
  DigestFile(DigestFile&& other) noexcept = default;
  DigestFile& operator=(DigestFile&&) = delete;
  // Removes a file that was not finished.
  ~DigestFile();

  Status write(std::string_view bytes);
  // The file is on disk, under its name, when this returns. An existing file of that name is replaced: it may be
  // damaged.
  Result<wire::Artefact> finish();

 private:
  DigestFile(std::filesystem::path temporary, FileLock lock, UniqueFd fd)
      : temporary_(std::move(temporary)), lock_(std::move(lock)), fd_(std::move(fd)) {}

  std::filesystem::path temporary_;
  FileLock lock_;
  UniqueFd fd_;  // closed once the file is finished
  crypto::Sha256 digest_;
  std::int64_t bytes_ = 0;
};

// Removes unfinished files of processes that were killed; files that are being written stay.
void remove_abandoned_files(const std::filesystem::path& folder);

}  // namespace starling::dataset
