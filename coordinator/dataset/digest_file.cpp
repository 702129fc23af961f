#include "coordinator/dataset/digest_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/os_error.h"

namespace starling::dataset {
namespace {

constexpr std::string_view kTemporaryPrefix = "import-";
constexpr std::string_view kTemporarySuffix = ".tmp";

}  // namespace

Result<DigestFile> DigestFile::create(const std::filesystem::path& folder) {
  remove_abandoned_files(folder);
  std::filesystem::path temporary = folder / fmt::format("{}{}{}", kTemporaryPrefix, ::getpid(), kTemporarySuffix);
  STARLING_ASSIGN(FileLock ours, FileLock::acquire(temporary));
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!fd || ::fchmod(fd.get(), 0644) != 0) return os_error("create", temporary, errno);
  return DigestFile(std::move(temporary), std::move(ours), std::move(fd));
}

DigestFile::~DigestFile() {
  if (fd_) ::unlink(temporary_.c_str());
}

Status DigestFile::write(std::string_view bytes) {
  digest_.update(bytes);
  bytes_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("write", temporary_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<wire::Artefact> DigestFile::finish() {
  if (::fsync(fd_.get()) != 0) return os_error("write", temporary_, errno);
  const wire::Artefact artefact{digest_.finish(), bytes_};
  const std::filesystem::path folder = temporary_.parent_path();
  if (::rename(temporary_.c_str(), (folder / artefact.sha256.hex()).c_str()) != 0) {
    return os_error("rename", temporary_, errno);
  }
  fd_.reset();
  STARLING_TRY(sync_to_disk(folder));
  return artefact;
}

void remove_abandoned_files(const std::filesystem::path& folder) {
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) continue;
    const auto nobodys = FileLock::acquire(entry->path());
    if (!nobodys) continue;
    log_info("'{}' was left by an import that was cut off; it is removed", entry->path().string());
    ::unlink(entry->path().c_str());
  }
}

}  // namespace starling::dataset
