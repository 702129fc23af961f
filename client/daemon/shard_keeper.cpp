#include "client/daemon/shard_keeper.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/os_error.h"
#include "shared/run/epochs.h"

namespace starling::daemon {
namespace {

constexpr double kMegabyte = 1e6;
constexpr Duration kDiskRetry = std::chrono::seconds(10);  // after the disk was found full

}  // namespace

ShardKeeper::ShardKeeper(ShardKeeperOptions options, storage::ShardCache cache)
    : options_(std::move(options)),
      cache_(std::move(cache)),
      mirrors_(std::max<std::size_t>(1, options_.manifest.data.mirrors.size()), options_.seed) {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "shards");
}

ShardKeeper::~ShardKeeper() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
    if (under_way_ != nullptr) under_way_->cancel();
    wake_.notify_all();
  }
  thread_.join();
}

Result<UniqueFd> ShardKeeper::open(const wire::SampleRange& samples) {
  const wire::RunManifest& manifest = options_.manifest;
  const std::size_t shard = wire::shard_of(manifest, samples);
  const MutexLock lock(mutex_);
  std::vector<std::size_t> wanted = {shard, wire::next_shard(manifest, samples)};
  if (wanted != wanted_) {
    wanted_ = std::move(wanted);
    cache_.mark_used(file_of(shard).sha256);
    wake_.notify_all();
  }
  if (UniqueFd fd = open_here(shard)) return fd;
  awaited_ = shard;
  return Error{ErrorCode::failed_precondition,
               fmt::format("waiting for training data: {}", doing_.empty() ? "looking for its shard" : doing_)};
}

UniqueFd ShardKeeper::open_here(std::size_t shard) {
  if (!here_.contains(shard)) return {};
  const auto path = cache_.path_of(file_of(shard).sha256);
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) return fd;
  if (errno != ENOENT) {  // another thread may have removed it to make room
    log_warning("{}; it is fetched again", os_error("open a shard of the training data", path, errno).message);
  }
  here_.erase(shard);
  wake_.notify_all();
  return {};
}

Result<UniqueFd> ShardKeeper::open_held(const wire::SampleRange& samples) {
  const std::size_t shard = wire::shard_of(options_.manifest, samples);
  const MutexLock lock(mutex_);
  if (UniqueFd fd = open_here(shard)) return fd;
  return Error{ErrorCode::not_found, "the shard of these samples is not here"};
}

void ShardKeeper::allow(bool allowed) {
  const MutexLock lock(mutex_);
  if (std::exchange(allowed_, allowed) == allowed) return;
  if (!allowed && under_way_ != nullptr) under_way_->cancel();
  wake_.notify_all();
}

void ShardKeeper::set_disk_bytes_left(std::int64_t bytes_left) {
  const MutexLock lock(mutex_);
  // A number that has not changed is not news: the bytes given back since then would be counted twice.
  if (std::exchange(disk_.bytes_left, bytes_left) == bytes_left) return;
  disk_.news = true;
  wake_.notify_all();
}

void ShardKeeper::on_arrival(std::function<void()> arrived) {
  const MutexLock lock(mutex_);
  arrived_ = std::move(arrived);
}

void ShardKeeper::tell(std::string doing) {
  const MutexLock lock(mutex_);
  doing_ = std::move(doing);
}

void ShardKeeper::run() {
  while (const auto job = next_job()) fetch(*job);
}

std::vector<Digest> ShardKeeper::digests_of(const std::vector<std::size_t>& shards) const {
  std::vector<Digest> digests;
  for (const std::size_t shard : shards) digests.push_back(file_of(shard).sha256);
  return digests;
}

// Waits for a shard to fetch. Returns none when the keeper ends.
std::optional<ShardKeeper::FetchJob> ShardKeeper::next_job() {
  const MutexLock lock(mutex_);
  while (!over_) {
    if (std::exchange(disk_.news, false)) {
      disk_not_before_ = {};
      cache_.set_bytes_left(*disk_.bytes_left);
      cache_.make_room(0, Digest(), digests_of(wanted_));
    }
    const auto missing =
        std::find_if(wanted_.begin(), wanted_.end(), [this](std::size_t shard) { return !here_.contains(shard); });
    const TimePoint now = clock_.now();
    if (allowed_ && missing != wanted_.end()) {
      const TimePoint due = std::max(mirrors_.next_try(now), disk_not_before_);
      if (due <= now) return FetchJob{*missing, wanted_};
      wake_.wait_for(mutex_, due - now);
    } else {
      wake_.wait_for(mutex_, std::chrono::hours(1));
    }
  }
  return std::nullopt;
}

void ShardKeeper::fetch(const FetchJob& job) {
  const TimePoint now = clock_.now();
  const auto mirror = mirrors_.choose(now);
  if (!mirror) return;
  if (std::exchange(part_.of, job.shard) != job.shard) part_.from.clear();
  if (make_room(job)) judge(*mirror, job, fetch_from(*mirror, job));
}

// Makes room within the limits, and on the disk. A full disk is no mirror's fault.
bool ShardKeeper::make_room(const FetchJob& job) {
  const wire::Artefact& file = file_of(job.shard);
  const std::vector<Digest> keep = digests_of(job.all);
  cache_.make_room(file.bytes, file.sha256, keep);
  const Status reserved = cache_.reserve(file.bytes, file.sha256, keep);
  if (reserved.ok()) return true;
  disk_not_before_ = clock_.now() + kDiskRetry;
  const std::string why = fmt::format(
      "there is no room on the disk for the next shard of the training data: {}; free "
      "some space, it is tried again in {:.0f} s",
      reserved.error().message, to_seconds(kDiskRetry));
  log_warning("{}", why);
  const MutexLock lock(mutex_);
  doing_ = why;
  return false;
}

Status ShardKeeper::fetch_from(std::size_t mirror, const FetchJob& job) {
  auto connected = options_.connect(mirror);
  if (!connected.ok()) return connected.error();
  const std::shared_ptr<ShardSource> source = std::move(*connected);
  {
    const MutexLock lock(mutex_);
    if (over_ || !allowed_) return Error{ErrorCode::unavailable, "stopped"};
    under_way_ = source;
  }
  const wire::Artefact& file = file_of(job.shard);
  const std::filesystem::path path = cache_.path_of(file.sha256);
  std::error_code none;
  const std::uintmax_t part_bytes = std::filesystem::file_size(path.string() + ".part", none);
  // The source of a part that an earlier process began is unknown.
  if (part_.from.empty() && !none && part_bytes > 0) part_.from.insert(SIZE_MAX);
  const std::string name = source->name();
  const Status fetched = source->fetch(file, path, [&](std::int64_t bytes_done) {
    part_.from.insert(mirror);
    wire_bytes_ = earlier_wire_bytes_ + source->wire_bytes();
    tell(fmt::format("shard {} of {}, {:.1f} of {:.1f} MB from {}", job.shard + 1, options_.manifest.data.shards.size(),
                     static_cast<double>(bytes_done) / kMegabyte, static_cast<double>(file.bytes) / kMegabyte, name));
    return true;
  });
  earlier_wire_bytes_ += source->wire_bytes();
  wire_bytes_ = earlier_wire_bytes_;
  const MutexLock lock(mutex_);
  under_way_.reset();
  if (fetched.ok()) return fetched;
  return fetched.error().prefixed(name);
}

void ShardKeeper::judge(std::size_t mirror, const FetchJob& job, const Status& fetched) {
  std::function<void()> arrived;
  {
    const MutexLock lock(mutex_);
    if (over_ || (!fetched.ok() && !allowed_)) return;  // ended on request
    if (fetched.ok()) {
      here_.insert(job.shard);
      doing_.clear();
      if (awaited_ == job.shard) arrived = arrived_;
    }
  }
  if (fetched.ok()) {
    if (arrived) arrived();
    mirrors_.on_success(mirror);
    cache_.mark_used(file_of(job.shard).sha256);
    part_.of.reset();
    return;
  }
  const Error& error = fetched.error();
  const bool wrong = error.code == ErrorCode::corrupt;
  // The bytes came from several mirrors: the whole shard comes from one of them next, and then it is clear which was
  // wrong.
  const bool of_several = wrong && part_.from.size() > 1;
  if (wrong) part_.from.clear();
  if (of_several) return log_warning("{}; parts of it came from elsewhere, so it is fetched again", error.message);
  const auto failure = wrong ? MirrorChoice::Failure::wrong_bytes : MirrorChoice::Failure::unreachable;
  const Duration rest = mirrors_.on_failure(clock_.now(), mirror, failure);
  const std::string why = fmt::format("{}; it is asked again in {:.0f} s", error.message, to_seconds(rest));
  log_warning("training data: {}", why);
  tell(why);
}

}  // namespace starling::daemon
