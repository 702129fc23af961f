// A file that is written once and then gets its content's digest as its name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "shared/base/files.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/crypto/digest.h"
#include "shared/wire/data_options.h"

namespace starling::dataset {

class DigestFile {
 public:
  // In `folder`. Until it is finished it has a name of this process, and a lock that tells it from one left behind; one
  // such file at a time. What others left is removed.
  static Result<DigestFile> create(const std::filesystem::path& folder);
  DigestFile(DigestFile&& other) noexcept = default;
  DigestFile& operator=(DigestFile&&) = delete;
  // What was not finished is removed.
  ~DigestFile();

  Status write(std::string_view bytes);
  // On disk, under its name, when it returns. What has that name already is written over: it may have been damaged.
  Result<wire::Artefact> finish();

 private:
  DigestFile(std::filesystem::path temporary, FileLock lock, UniqueFd fd)
      : temporary_(std::move(temporary)), lock_(std::move(lock)), fd_(std::move(fd)) {}

  std::filesystem::path temporary_;
  FileLock lock_;
  UniqueFd fd_;  // none once it is finished
  crypto::Sha256 digest_;
  std::int64_t bytes_ = 0;
};

// Half files of processes that were killed while they wrote; those that are being written stay.
void remove_abandoned_files(const std::filesystem::path& folder);

}  // namespace starling::dataset
