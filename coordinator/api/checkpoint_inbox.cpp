#include "coordinator/api/checkpoint_inbox.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/os_error.h"
#include "shared/wire/frames.h"

namespace starling::api {
namespace {

constexpr std::string_view kUnfinished =
    "checkpoint.part";  // begins the files' names; the id of the run or cell follows

bool same(const core::CheckpointWanted& a, const core::CheckpointWanted& b) {
  return a.run_id == b.run_id && a.round == b.round && a.state_digest == b.state_digest;
}

}  // namespace

CheckpointInbox::CheckpointInbox(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::filesystem::path CheckpointInbox::path_of(const RunId& run) const {
  return folder_ / fmt::format("{}.{}", kUnfinished, run);
}

void CheckpointInbox::clear() {
  const MutexLock lock(mutex_);
  copies_.clear();
  std::error_code problem;
  std::vector<std::filesystem::path> unfinished;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, problem)) {
    if (entry.path().filename().string().starts_with(kUnfinished)) unfinished.push_back(entry.path());
  }
  for (const std::filesystem::path& path : unfinished) std::filesystem::remove(path, problem);
}

Result<CheckpointInbox::Progress> CheckpointInbox::take(const core::CheckpointWanted& wanted, std::int64_t offset,
                                                        std::string_view bytes) {
  const MutexLock lock(mutex_);
  auto found = copies_.find(wanted.run_id);
  if (found == copies_.end() || !same(found->second.wanted, wanted)) {
    copies_.erase(wanted.run_id);
    STARLING_ASSIGN(Copy begun, begin(wanted));
    found = copies_.emplace(wanted.run_id, std::move(begun)).first;
  }
  Copy& copy = found->second;
  if (offset != copy.bytes) return Progress{copy.bytes};
  const Status added = add(copy, bytes);
  if (added.ok() && copy.bytes < wanted.bytes) return Progress{copy.bytes};
  auto complete = added.ok() ? finish(copy) : Result<wire::Checkpoint>(added.error());
  copies_.erase(found);
  if (!complete.ok()) return complete.error();
  return Progress{complete->file.bytes, *complete};
}

Result<CheckpointInbox::Copy> CheckpointInbox::begin(const core::CheckpointWanted& wanted) const {
  const std::filesystem::path path = path_of(wanted.run_id);
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return os_error("create", path, errno);
  return Copy{wanted, std::move(file), 0, {}, crypto::PiecewiseSha256(wire::kStateChunkFloats * sizeof(float))};
}

Status CheckpointInbox::add(Copy& copy, std::string_view bytes) const {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size > copy.wanted.bytes - copy.bytes) {
    return Error{ErrorCode::corrupt, fmt::format("the model's state has {} bytes, not more", copy.wanted.bytes)};
  }
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t written = ::write(copy.file.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("write", path_of(copy.wanted.run_id), errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  copy.whole.update(bytes);
  copy.state.update(crypto::as_bytes(bytes));
  copy.bytes += size;
  return {};
}

Result<wire::Checkpoint> CheckpointInbox::finish(Copy& copy) const {
  const core::CheckpointWanted& wanted = copy.wanted;
  if (const Digest arrived = copy.state.finish(); arrived != wanted.state_digest) {
    return Error{ErrorCode::corrupt, fmt::format("the bytes are not those of the state of round {}", wanted.round)};
  }
  wire::Checkpoint checkpoint{wanted.round, wanted.state_digest, {copy.whole.finish(), copy.bytes}};
  const std::filesystem::path unfinished = path_of(wanted.run_id);
  STARLING_TRY(sync_to_disk(unfinished));
  const std::filesystem::path path = folder_ / checkpoint.file.sha256.hex();
  std::error_code problem;
  std::filesystem::rename(unfinished, path, problem);
  if (problem) return os_error("rename to", path, problem.value());
  STARLING_TRY(sync_to_disk(folder_));
  return checkpoint;
}

}  // namespace starling::api
