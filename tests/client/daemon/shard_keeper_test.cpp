#include "client/daemon/shard_keeper.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <fstream>
#include <map>
#include <thread>

#include "shared/crypto/digest.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kShards = 4;

std::string content_of(std::size_t shard) { return std::string(1000 + shard, static_cast<char>('a' + shard)); }

// Three mirrors; a test chooses the failure of each.
struct Mirrors {
  Mutex mutex;
  std::map<std::size_t, Error> fails GUARDED_BY(mutex);
  std::map<std::size_t, int> asked GUARDED_BY(mutex);
  std::vector<Digest> fetched GUARDED_BY(mutex);
};

class FakeMirror final : public ShardSource {
 public:
  FakeMirror(Mirrors& mirrors, std::size_t number) : mirrors_(mirrors), number_(number) {}
  [[nodiscard]] std::string name() const override { return "mirror " + std::to_string(number_); }
  Status fetch(const wire::Artefact& shard, const std::filesystem::path& destination,
               std::function<bool(std::int64_t)> progress) override {
    const MutexLock lock(mirrors_.mutex);
    ++mirrors_.asked[number_];
    progress(10);
    if (const auto fails = mirrors_.fails.find(number_); fails != mirrors_.fails.end()) return fails->second;
    for (std::size_t i = 0; i < kShards; ++i) {
      if (crypto::sha256(content_of(i)) == shard.sha256) std::ofstream(destination) << content_of(i);
    }
    mirrors_.fetched.push_back(shard.sha256);
    return {};
  }
  void cancel() override {}
  [[nodiscard]] std::int64_t wire_bytes() const override { return 10; }

 private:
  Mirrors& mirrors_;
  std::size_t number_;
};

struct Keeping {
  testing::TempDir folder;
  Mirrors mirrors;
  wire::RunManifest manifest;
  std::unique_ptr<ShardKeeper> keeper;

  Keeping() {
    manifest.data.kind = wire::DataKind::tokens;
    manifest.data.mirrors = {"https://a/", "https://b/", "https://c/"};
    for (std::size_t i = 0; i < kShards; ++i) {
      manifest.data.shards.push_back(
          {{crypto::sha256(content_of(i)), static_cast<std::int64_t>(content_of(i).size())}, 500});
    }
  }
  void fail(std::size_t mirror, ErrorCode code) {
    const MutexLock lock(mirrors.mutex);
    mirrors.fails.insert_or_assign(mirror, Error{code, "out of order"});
  }
  void start() { start(folder.path()); }
  void start(const std::filesystem::path& shards) {
    keeper = std::make_unique<ShardKeeper>(
        ShardKeeperOptions{manifest, 1,
                           [this](std::size_t mirror) -> Result<std::unique_ptr<ShardSource>> {
                             return std::unique_ptr<ShardSource>(std::make_unique<FakeMirror>(mirrors, mirror));
                           }},
        storage::ShardCache::open(shards, 10'000, 0).value());
  }
  // The lane's shard of the round, once it is there.
  std::string read(RoundIndex round) {
    const TimePoint give_up = SystemClock().now() + 20s;
    while (SystemClock().now() < give_up) {
      const auto fd = keeper->open({round, 0, 0, 1});
      if (!fd.ok()) {
        CHECK(fd.error().code == ErrorCode::failed_precondition);
        CHECK(fd.error().message.starts_with("waiting for training data: "));
        std::this_thread::yield();
        continue;
      }
      std::string content(2000, '\0');
      content.resize(static_cast<std::size_t>(::read(fd->get(), content.data(), content.size())));
      return content;
    }
    return "never came";
  }
  [[nodiscard]] std::string expected(RoundIndex round) const {
    return content_of(wire::lane_place(manifest.data, manifest.seed, manifest.peers_max, round, 0).shard);
  }
  int asked(std::size_t mirror) {
    const MutexLock lock(mirrors.mutex);
    return mirrors.asked[mirror];
  }
};

}  // namespace

TEST_CASE("the shard of a batch is fetched, and the next one before it is asked for") {
  Keeping keeping;
  keeping.start();
  CHECK(keeping.read(0) == keeping.expected(0));
  const RoundIndex next = keeping.manifest.data.shard_rounds;
  const std::filesystem::path ahead = keeping.folder / crypto::sha256(keeping.expected(next)).hex();
  const TimePoint give_up = SystemClock().now() + 20s;
  while (!std::filesystem::exists(ahead) && SystemClock().now() < give_up) std::this_thread::yield();
  CHECK(std::filesystem::exists(ahead));
  CHECK(keeping.read(next) == keeping.expected(next));
  CHECK(keeping.keeper->wire_bytes() > 0);
}

TEST_CASE("a mirror that is away or serves wrong bytes costs nothing but another one's turn") {
  Keeping keeping;
  keeping.fail(0, ErrorCode::unavailable);
  keeping.fail(1, ErrorCode::corrupt);
  keeping.start();
  for (RoundIndex round = 0; round < 20 * keeping.manifest.data.shard_rounds;
       round += keeping.manifest.data.shard_rounds) {
    CHECK(keeping.read(round) == keeping.expected(round));
  }
  CHECK(keeping.asked(1) <= 2);  // wrong bytes: once more where others had begun the file, then not for a long time
  CHECK(keeping.asked(2) >= 1);
}

TEST_CASE("while no mirror has it, batches are told why") {
  Keeping keeping;
  for (std::size_t mirror = 0; mirror < 3; ++mirror) keeping.fail(mirror, ErrorCode::corrupt);
  keeping.start();
  std::string why;
  const TimePoint give_up = SystemClock().now() + 20s;
  while (why.find("asked again in 30 s") == std::string::npos && SystemClock().now() < give_up) {
    const auto refused = keeping.keeper->open({0, 0, 0, 1});
    REQUIRE_FALSE(refused.ok());
    why = refused.error().message;
  }
  CHECK(why.find("out of order") != std::string::npos);
  CHECK(why.find("asked again in 30 s") != std::string::npos);
}

TEST_CASE("a shard that was opened can be read when its file has gone, and is fetched again") {
  Keeping keeping;
  keeping.start();
  REQUIRE(keeping.read(0) == keeping.expected(0));
  const auto open_before = keeping.keeper->open({0, 0, 0, 1});
  REQUIRE(open_before.ok());
  std::filesystem::remove(keeping.folder / crypto::sha256(keeping.expected(0)).hex());
  CHECK(keeping.read(0) == keeping.expected(0));
  char byte = 0;
  CHECK(::read(open_before->get(), &byte, 1) == 1);
  CHECK(byte == keeping.expected(0)[0]);
}

TEST_CASE("a look at samples of others fetches nothing, and finds the shards that are here") {
  Keeping keeping;
  keeping.start();
  REQUIRE(keeping.read(0) == keeping.expected(0));
  CHECK(keeping.keeper->open_held({0, 0, 0, 1}).ok());
  int here = 0;
  for (RoundIndex turn = 0; turn < 4; ++turn) {
    const auto held = keeping.keeper->open_held({turn * keeping.manifest.data.shard_rounds, 0, 0, 1});
    if (!held.ok()) CHECK(held.error().code == ErrorCode::not_found);
    here += held.ok() ? 1 : 0;
  }
  CHECK(here < 4);
  CHECK(keeping.read(0) == keeping.expected(0));  // its own is wanted still
}

TEST_CASE("nothing is fetched while it is not allowed") {
  Keeping keeping;
  keeping.start();
  keeping.keeper->allow(false);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(keeping.keeper->open({0, 0, 0, 1}).ok());
  CHECK(keeping.asked(0) + keeping.asked(1) + keeping.asked(2) == 0);
  keeping.keeper->allow(true);
  CHECK(keeping.read(0) == keeping.expected(0));
}

TEST_CASE("a full disk is told as that, blames no mirror, and ends when there is room") {
  const testing::SmallDisk disk(64 * 1024);
  const std::filesystem::path filler = disk.path() / "filler";
  std::ofstream(filler) << std::string(64 * 1024, 'x');
  const std::filesystem::path shards = disk.path() / "shards";
  Keeping keeping;
  keeping.start(shards);
  std::string why;
  const TimePoint give_up = SystemClock().now() + 20s;
  while (why.find("no room on the disk") == std::string::npos && SystemClock().now() < give_up) {
    why = keeping.keeper->open({0, 0, 0, 1}).error().message;
  }
  CHECK(why.find("No space left") != std::string::npos);
  CHECK(keeping.asked(0) + keeping.asked(1) + keeping.asked(2) == 0);
  std::filesystem::remove(filler);
  keeping.keeper->set_disk_bytes_left(1'000'000);
  CHECK(keeping.read(0) == keeping.expected(0));
}

TEST_CASE("a manifest's mirrors are dialled only where plans may send this computer, whatever their names stand for") {
  wire::DataOptions data;
  data.mirrors = {"https://localhost:9/", "https://192.168.0.1/", "https://169.254.169.254/latest/", "https://[::1]:9/",
                  "https://[fd00::1]/",   "https://[fe80::1]/",   "https://[::ffff:10.0.0.1]/"};
  const auto why = [&](std::size_t mirror, const net::AddressPolicy& addresses) {
    auto connected = connect_mirror(data, mirror, addresses, nullptr);
    REQUIRE(connected.ok());
    const testing::TempDir folder;
    return (*connected)->fetch({Digest(), 1}, folder / "shard", [](std::int64_t) { return true; }).error();
  };
  const net::AddressPolicy strict;
  CHECK(why(0, strict).message.find("this machine itself") != std::string::npos);
  CHECK(why(1, strict).message.find("a private network's address") != std::string::npos);
  CHECK(why(2, strict).message.find("never dialled") != std::string::npos);
  CHECK(why(3, strict).message.find("this machine itself") != std::string::npos);
  CHECK(why(4, strict).message.find("a private network's address") != std::string::npos);
  CHECK(why(5, strict).message.find("never dialled") != std::string::npos);
  CHECK(why(6, strict).message.find("a private network's address") != std::string::npos);
  const net::AddressPolicy near = net::policy_for_coordinator("127.0.0.1");
  CHECK(why(0, near).code == ErrorCode::unavailable);  // nobody listens there
  CHECK(why(2, near).code == ErrorCode::permission_denied);
  CHECK(why(3, near).code == ErrorCode::unavailable);
}
