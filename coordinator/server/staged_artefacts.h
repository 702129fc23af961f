// Where a new run's files wait until all of it is accepted: a run that is refused leaves none.
#pragma once

#include <filesystem>

#include "shared/base/files.h"
#include "shared/base/result.h"

namespace starling::server {

// A folder among a project's artefacts, with a lock that tells it from one of a process that was killed. A process has
// one at a time.
class StagedArtefacts {
 public:
  // Removes folders of processes that were killed, and half-written files among the artefacts.
  static void remove_abandoned(const std::filesystem::path& artefacts);
  // Does that first.
  static Result<StagedArtefacts> create(const std::filesystem::path& artefacts);
  StagedArtefacts(StagedArtefacts&& other) noexcept = default;
  StagedArtefacts& operator=(StagedArtefacts&&) = delete;
  // Removes what was not published.
  ~StagedArtefacts();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Moves all files to the artefacts, where they are on disk when it returns. One of the same name is replaced.
  Status publish();

 private:
  StagedArtefacts(std::filesystem::path folder, FileLock lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path folder_;  // empty once it was moved from
  FileLock lock_;
};

}  // namespace starling::server
