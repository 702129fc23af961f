#include "coordinator/api/checkpoint_inbox.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "shared/base/files.h"
#include "shared/base/os_error.h"
#include "shared/wire/frames.h"

namespace starling::api {
namespace {

constexpr const char* kUnfinished = "checkpoint.part";

bool same(const core::CheckpointWanted& a, const core::CheckpointWanted& b) {
  return a.run_id == b.run_id && a.round == b.round && a.state_digest == b.state_digest;
}

}  // namespace

CheckpointInbox::CheckpointInbox(std::filesystem::path folder)
    : folder_(std::move(folder)), state_(wire::kStateChunkFloats * sizeof(float)) {}

void CheckpointInbox::clear() {
  const MutexLock lock(mutex_);
  copy_.reset();
  file_.reset();
  std::error_code absent;
  std::filesystem::remove(folder_ / kUnfinished, absent);
}

Result<CheckpointInbox::Progress> CheckpointInbox::take(const core::CheckpointWanted& wanted, std::int64_t offset,
                                                        std::string_view bytes) {
  const MutexLock lock(mutex_);
  if (!copy_ || !same(*copy_, wanted)) STARLING_TRY(begin(wanted));
  if (offset != bytes_) return Progress{bytes_};
  Status added = add(bytes);
  if (!added.ok() || bytes_ < wanted.bytes) {
    if (!added.ok()) copy_.reset();
    return added.ok() ? Result<Progress>(Progress{bytes_}) : added.error();
  }
  auto complete = finish();
  copy_.reset();
  file_.reset();
  if (!complete.ok()) return complete.error();
  return Progress{bytes_, *complete};
}

Status CheckpointInbox::begin(const core::CheckpointWanted& wanted) {
  copy_.reset();
  const std::filesystem::path path = folder_ / kUnfinished;
  file_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file_) return os_error("create", path, errno);
  bytes_ = 0;
  whole_ = crypto::Sha256();
  state_ = crypto::PiecewiseSha256(wire::kStateChunkFloats * sizeof(float));
  copy_ = wanted;
  return {};
}

Status CheckpointInbox::add(std::string_view bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size > copy_->bytes - bytes_) {
    return Error{ErrorCode::corrupt, fmt::format("the model's state has {} bytes, not more", copy_->bytes)};
  }
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t written = ::write(file_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("write", folder_ / kUnfinished, errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  whole_.update(bytes);
  state_.update(crypto::as_bytes(bytes));
  bytes_ += size;
  return {};
}

Result<wire::Checkpoint> CheckpointInbox::finish() {
  if (const Digest arrived = state_.finish(); arrived != copy_->state_digest) {
    return Error{ErrorCode::corrupt, fmt::format("the bytes are not those of the state of round {}", copy_->round)};
  }
  wire::Checkpoint checkpoint{copy_->round, copy_->state_digest, {whole_.finish(), bytes_}};
  const std::filesystem::path unfinished = folder_ / kUnfinished;
  STARLING_TRY(sync_to_disk(unfinished));
  const std::filesystem::path path = folder_ / checkpoint.file.sha256.hex();
  std::error_code problem;
  std::filesystem::rename(unfinished, path, problem);
  if (problem) return os_error("rename to", path, problem.value());
  STARLING_TRY(sync_to_disk(folder_));
  return checkpoint;
}

}  // namespace starling::api
