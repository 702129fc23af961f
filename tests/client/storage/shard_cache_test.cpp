#include "client/storage/shard_cache.h"

#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using storage::ShardCache;

namespace {

Digest digest(std::uint8_t value) {
  Digest out;
  out.bytes.fill(value);
  return out;
}

struct Cache {
  testing::TempDir folder;
  ShardCache cache = ShardCache::open(folder.path(), 1000, 0).value();

  void put(std::uint8_t shard, std::size_t bytes, int minutes_ago, const char* ending = "") const {
    const std::filesystem::path path = cache.path_of(digest(shard)).string() + ending;
    std::ofstream(path) << std::string(bytes, 'x');
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::minutes(minutes_ago));
  }
  [[nodiscard]] bool has(std::uint8_t shard) const { return std::filesystem::exists(cache.path_of(digest(shard))); }
};

}  // namespace

TEST_CASE("what was not used for the longest time makes room, and no more than is needed") {
  Cache c;
  c.put(1, 400, 30);
  c.put(2, 300, 20);
  c.put(3, 300, 10);
  c.cache.make_room(300, digest(9), {});
  CHECK_FALSE(c.has(1));
  CHECK(c.has(2));
  CHECK(c.has(3));
  c.cache.mark_used(digest(2));
  c.cache.make_room(500, digest(9), {});
  CHECK(c.has(2));
  CHECK_FALSE(c.has(3));
}

TEST_CASE("shards in use stay, and so does what has come of the one that is fetched") {
  Cache c;
  c.put(1, 900, 30);
  c.put(2, 50, 20, ".part");
  c.put(3, 300, 10, ".part");
  const std::vector<Digest> keep = {digest(1), digest(2)};
  c.cache.make_room(100, digest(2), keep);
  CHECK(c.has(1));
  CHECK(std::filesystem::exists(c.cache.path_of(digest(2)).string() + ".part"));
  CHECK_FALSE(std::filesystem::exists(c.cache.path_of(digest(3)).string() + ".part"));
  CHECK(storage::bytes_in(c.folder.path()) == 950);
}

TEST_CASE("limits that fall take back what was not used for the longest time, but for what is needed") {
  Cache c;
  c.put(1, 400, 30);
  c.put(2, 900, 20);
  c.put(3, 900, 10);
  c.cache.set_bytes_left(1000);
  c.cache.make_room(500, digest(9), {});  // half of what is left
  CHECK(c.has(1));
  c.cache.set_bytes_left(-300);
  c.cache.make_room(0, Digest(), {});
  CHECK_FALSE(c.has(1));
  CHECK(c.has(2));
  c.cache.set_bytes_left(-1'000'000);
  c.cache.make_room(0, Digest(), {});
  CHECK_FALSE(c.has(2));
  CHECK(c.has(3));  // the shards that are in use at a time may stay
}

TEST_CASE("on a full disk others make room for a shard, and where that does not help it is not begun") {
  const testing::SmallDisk disk(1'000'000);
  const ShardCache cache = ShardCache::open(disk.path(), 10'000'000, 0).value();
  for (const std::uint8_t shard : {1, 2}) {
    std::ofstream(cache.path_of(digest(shard))) << std::string(400'000, 'x');
  }
  const std::vector<Digest> keep = {digest(2)};
  CHECK(cache.reserve(500'000, digest(9), keep).ok());
  CHECK_FALSE(std::filesystem::exists(cache.path_of(digest(1))));
  const Status full = cache.reserve(900'000, digest(9), keep);
  REQUIRE_FALSE(full.ok());
  CHECK(full.error().code == ErrorCode::resource_exhausted);
  CHECK(full.error().message.find("No space left") != std::string::npos);
  CHECK(std::filesystem::exists(cache.path_of(digest(2))));
  CHECK(cache.reserve(900'000, digest(2), keep).ok());  // it is there
}
