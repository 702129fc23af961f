// Keeps the shards that this computer's samples are cut from: fetches the shard that the lane reads now, then the one
// it reads next, from the run's mirrors, or from the coordinator where it has none. It has a thread and connections of
// its own, under the limits of the line.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client/daemon/mirror_choice.h"
#include "client/storage/shard_cache.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/net/address_policy.h"
#include "shared/net/line.h"
#include "shared/run/run_manifest.h"
#include "shared/run/training_data.h"

namespace starling::daemon {

// One source of shards, and one connection to it. Its thread is the keeper's, except for cancel().
class ShardSource {
 public:
  virtual ~ShardSource() = default;
  // "mirror https://a.example.org/books/"
  [[nodiscard]] virtual std::string name() const = 0;
  // Leaves the file at `destination` by way of "<destination>.part", which a later call, on any source, continues. At
  // once when it is there already. corrupt when the bytes are others; then the part is removed.
  virtual Status fetch(const wire::Artefact& shard, const std::filesystem::path& destination,
                       std::function<bool(std::int64_t bytes_done)> progress) = 0;
  // Ends a fetch under way, now or soon. From any thread.
  virtual void cancel() = 0;
  [[nodiscard]] virtual std::int64_t wire_bytes() const = 0;
};

// The run whose shards are kept, and its mirrors. `connect` is called on the keeper's thread and may block.
struct ShardKeeperOptions {
  wire::RunManifest manifest;  // the manifest of a run with shards
  std::uint64_t seed = 0;      // spreads volunteers over the mirrors
  // Returns a fresh connection to a mirror, or, where the manifest names none, to the coordinator.
  std::function<Result<std::unique_ptr<ShardSource>>(std::size_t mirror)> connect;
};

class ShardKeeper {
 public:
  ShardKeeper(ShardKeeperOptions options, storage::ShardCache cache);
  // Ends the fetch under way.
  ~ShardKeeper();

  // Returns the file of the samples' shard, whose digest is right; it can be read while it is open. unavailable, with
  // the keeper's present activity, while it is not here. From any thread, at once.
  Result<UniqueFd> open(const wire::SampleRange& samples) EXCLUDES(mutex_);
  // Like open(), for a look at samples that are nobody's here: nothing is fetched. not_found: the shard is not here.
  Result<UniqueFd> open_held(const wire::SampleRange& samples) EXCLUDES(mutex_);
  // Sets whether it may use the network; it may at first. From any thread.
  void allow(bool allowed) EXCLUDES(mutex_);
  // Sets the bytes that the volunteer's limits leave of the disk, beside all that is there now, as it was measured
  // last; negative: more is taken than they allow. From any thread.
  void set_disk_bytes_left(std::int64_t bytes_left) EXCLUDES(mutex_);
  // Called on the keeper's thread when a shard that open() had refused has come.
  void on_arrival(std::function<void()> arrived) EXCLUDES(mutex_);
  // Bytes moved both ways so far. From any thread.
  [[nodiscard]] std::int64_t wire_bytes() const { return wire_bytes_; }

 private:
  // Shards by their number in the manifest.
  struct FetchJob {
    std::size_t shard = 0;
    std::vector<std::size_t> all;  // all shards that are wanted: they stay on disk
  };
  // The shard that is here in part.
  struct Part {
    std::optional<std::size_t> of;
    std::set<std::size_t> from;  // mirrors
  };
  struct Disk {
    std::optional<std::int64_t> bytes_left;  // the number set last
    bool news = false;
  };
  void run();
  // Returns the file of a shard that is here; invalid if it is not, or not any more.
  UniqueFd open_here(std::size_t shard) REQUIRES(mutex_);
  std::optional<FetchJob> next_job() EXCLUDES(mutex_);
  void fetch(const FetchJob& job);
  [[nodiscard]] bool make_room(const FetchJob& job) EXCLUDES(mutex_);
  [[nodiscard]] std::vector<Digest> digests_of(const std::vector<std::size_t>& shards) const;
  Status fetch_from(std::size_t mirror, const FetchJob& job) EXCLUDES(mutex_);
  void judge(std::size_t mirror, const FetchJob& job, const Status& fetched) EXCLUDES(mutex_);
  void tell(std::string doing) EXCLUDES(mutex_);
  [[nodiscard]] const wire::Artefact& file_of(std::size_t shard) const {
    return options_.manifest.data.shards[shard].file;
  }

  const ShardKeeperOptions options_;
  SystemClock clock_;
  // For the keeper's thread alone.
  storage::ShardCache cache_;
  TimePoint disk_not_before_{};  // after the disk was full
  MirrorChoice mirrors_;
  Part part_;
  std::int64_t earlier_wire_bytes_ = 0;  // bytes of connections before the one under way

  mutable Mutex mutex_;
  ConditionVariable wake_;
  bool over_ GUARDED_BY(mutex_) = false;
  bool allowed_ GUARDED_BY(mutex_) = true;
  std::vector<std::size_t> wanted_ GUARDED_BY(mutex_);  // the most urgent first
  std::set<std::size_t> here_ GUARDED_BY(mutex_);       // shards whose digests were found right
  std::string doing_ GUARDED_BY(mutex_);
  Disk disk_ GUARDED_BY(mutex_);
  std::optional<std::size_t> awaited_ GUARDED_BY(mutex_);  // the shard that open() refused last
  std::function<void()> arrived_ GUARDED_BY(mutex_);
  std::shared_ptr<ShardSource> under_way_ GUARDED_BY(mutex_);
  std::atomic<std::int64_t> wire_bytes_{0};
  std::thread thread_;
};

// Connects to one of the run's mirrors over HTTPS, at addresses that the policy allows: a manifest must not make
// volunteers call into their own networks. All traffic takes from `line`, which outlives the sources.
Result<std::unique_ptr<ShardSource>> connect_mirror(const wire::DataOptions& data, std::size_t mirror,
                                                    const net::AddressPolicy& addresses, net::Line* line);

}  // namespace starling::daemon
