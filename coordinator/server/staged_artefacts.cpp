#include "coordinator/server/staged_artefacts.h"

#include <fmt/core.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <vector>

#include "coordinator/dataset/digest_file.h"
#include "shared/base/log.h"
#include "shared/base/os_error.h"

namespace starling::server {
namespace {

constexpr std::string_view kPrefix = "staged-";
constexpr std::string_view kLockSuffix = ".lock";

std::filesystem::path lock_of(const std::filesystem::path& folder) {
  return folder.string() + std::string(kLockSuffix);
}

void remove_staged(const std::filesystem::path& folder) {
  std::error_code unknown;
  std::filesystem::remove_all(folder, unknown);
  std::filesystem::remove(lock_of(folder), unknown);
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& problem) {
  std::vector<std::filesystem::path> entries;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    entries.push_back(entry->path());
  }
  return entries;
}

}  // namespace

void StagedArtefacts::remove_abandoned(const std::filesystem::path& artefacts) {
  dataset::remove_abandoned_files(artefacts);
  std::error_code unknown;
  for (const std::filesystem::path& entry : entries_of(artefacts, unknown)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kLockSuffix)) continue;
    const auto nobodys = FileLock::acquire(entry);
    if (!nobodys) continue;
    log_info("files of a new run were left by a command that was cut off; they are removed");
    remove_staged(artefacts / name.substr(0, name.size() - kLockSuffix.size()));
  }
}

Result<StagedArtefacts> StagedArtefacts::create(const std::filesystem::path& artefacts) {
  remove_abandoned(artefacts);
  std::filesystem::path folder = artefacts / fmt::format("{}{}", kPrefix, ::getpid());
  STARLING_ASSIGN(FileLock lock, FileLock::acquire(lock_of(folder)));
  STARLING_TRY(ensure_directory(folder, 0700));
  return StagedArtefacts(std::move(folder), std::move(lock));
}

StagedArtefacts::~StagedArtefacts() {
  if (!folder_.empty()) remove_staged(folder_);
}

Status StagedArtefacts::publish() {
  const std::filesystem::path artefacts = folder_.parent_path();
  std::error_code problem;
  const std::vector<std::filesystem::path> files = entries_of(folder_, problem);
  if (problem) return os_error("list", folder_, problem.value());
  for (const std::filesystem::path& file : files) {
    std::filesystem::rename(file, artefacts / file.filename(), problem);
    if (problem) return os_error("rename", file, problem.value());
  }
  return sync_to_disk(artefacts);
}

}  // namespace starling::server
