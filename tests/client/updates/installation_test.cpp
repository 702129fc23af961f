#include "client/updates/installation.h"

#include <doctest/doctest.h>

#include "shared/base/files.h"
#include "tests/client/updates/played_installation.h"

using namespace starling;
using namespace starling::updates;
using starling::testing::PlayedInstallation;
using starling::testing::working_daemon;
namespace fs = std::filesystem;

namespace {

const auto kGoOn = [] { return true; };

wire::ReleaseFeed feed_of(const std::string& version) {
  wire::ReleaseFeed feed;
  feed.version = version;
  return feed;
}

constexpr std::int64_t kSmall = 1000;

wire::ReleaseFile file_of(std::int64_t unpacked_bytes = kSmall) {
  wire::ReleaseFile file;
  file.unpacked_bytes = unpacked_bytes;
  return file;
}

}  // namespace

TEST_CASE("an installation is known by its layout, through links, and nothing else is one") {
  const PlayedInstallation played("1.0.0");
  CHECK(played.open("1.0.0").version() == "1.0.0");
  const auto linked = Installation::of(played.root() / "current/bin/starlingd");
  REQUIRE(linked.has_value());
  CHECK(linked->version() == "1.0.0");
  CHECK(!Installation::of("/usr/bin/env").has_value());
  CHECK(!Installation::of(played.root() / "missing").has_value());
  fs::remove(played.root() / "installation.json");
  CHECK(!Installation::of(played.root() / "current/bin/starlingd").has_value());
}

TEST_CASE("an archive is unpacked beside, and the current version stays what it is") {
  const PlayedInstallation played("1.0.0");
  const Installation installation = played.open("1.0.0");
  const fs::path archive = played.archive("1.1.0", working_daemon("1.1.0"));
  REQUIRE(installation.unpack(archive, feed_of("1.1.0"), file_of(), kGoOn).ok());
  CHECK(fs::exists(installation.program("1.1.0", "starlingd")));
  CHECK(!fs::exists(played.root() / "incoming"));
  CHECK(played.current() == "versions/1.0.0");
  REQUIRE(installation.switch_to("1.1.0").ok());
  CHECK(played.current() == "versions/1.1.0");
  CHECK(fs::exists(played.root() / "current/bin/starlingd"));
}

TEST_CASE("an archive that is cut, stopped, or of another version leaves nothing") {
  const PlayedInstallation played("1.0.0");
  const Installation installation = played.open("1.0.0");
  const fs::path archive = played.archive("1.1.0", working_daemon("1.1.0"));
  CHECK(installation.unpack(archive, feed_of("1.2.0"), file_of(), kGoOn).error().code == ErrorCode::corrupt);
  CHECK(!installation.unpack(archive, feed_of("1.1.0"), file_of(), [] { return false; }).ok());
  fs::resize_file(archive, fs::file_size(archive) / 2);
  CHECK(!installation.unpack(archive, feed_of("1.1.0"), file_of(), kGoOn).ok());
  CHECK(!fs::exists(played.root() / "versions/1.1.0"));
  CHECK(!fs::exists(played.root() / "versions/1.2.0"));
  CHECK(!fs::exists(played.root() / "incoming"));
}

TEST_CASE("what an interrupted try left does not get in the way") {
  const PlayedInstallation played("1.0.0");
  const Installation installation = played.open("1.0.0");
  fs::create_directories(played.root() / "incoming/versions/1.1.0");
  fs::create_symlink("versions/nowhere", played.root() / "current.new");
  const fs::path archive = played.archive("1.1.0", working_daemon("1.1.0"));
  CHECK(installation.unpack(archive, feed_of("1.1.0"), file_of(), kGoOn).ok());
  CHECK(installation.switch_to("1.1.0").ok());
  CHECK(played.current() == "versions/1.1.0");
}

TEST_CASE("an update that does not fit is refused before anything is written") {
  const PlayedInstallation played("1.0.0");
  const Installation installation = played.open("1.0.0");
  const fs::path archive = played.archive("1.1.0", working_daemon("1.1.0"));
  const Status status = installation.unpack(archive, feed_of("1.1.0"), file_of(std::int64_t{1} << 60), kGoOn);
  CHECK(status.error().code == ErrorCode::resource_exhausted);
  CHECK(!fs::exists(played.root() / "incoming"));
}

TEST_CASE("a version that works keeps the one before it, and no older ones") {
  const PlayedInstallation played("0.9.0");
  for (const char* version : {"1.0.0", "1.1.0"}) played.add_version(version, working_daemon(version));
  const Installation installation = played.open("1.1.0");
  installation.end_trial();
  CHECK(fs::exists(played.root() / "versions/0.9.0"));  // nothing was on trial
  REQUIRE(installation.save_trial({"1.1.0", "1.0.0", 1}).ok());
  installation.end_trial();
  CHECK(!fs::exists(played.root() / "versions/0.9.0"));
  CHECK(fs::exists(played.root() / "versions/1.0.0"));
  CHECK(fs::exists(played.root() / "versions/1.1.0"));
  CHECK(!installation.trial().has_value());
}

TEST_CASE("going back leads to the version before and remembers which one failed") {
  const PlayedInstallation played("1.0.0");
  played.add_version("1.1.0", working_daemon("1.1.0"));
  const Installation installation = played.open("1.1.0");
  REQUIRE(installation.save_trial({"1.1.0", "1.0.0", 4}).ok());
  REQUIRE(installation.switch_to("1.1.0").ok());
  REQUIRE(installation.go_back(*installation.trial()).ok());
  CHECK(played.current() == "versions/1.0.0");
  CHECK(installation.failed() == std::vector<std::string>{"1.1.0"});
  CHECK(!installation.trial().has_value());
}
