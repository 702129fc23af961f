// The program itself, run as its users do.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/signed_feed.h"
#include "tests/support/temp_dir.h"

using namespace starling;
namespace fs = std::filesystem;

namespace {

int release(const std::string& arguments) {
  const std::string command = std::string(RELEASE_PROGRAM) + " " + arguments + " > /dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a key is made once, for its owner alone, and is never overwritten") {
  const testing::TempDir folder;
  const std::string key = (folder / "release.key").string();
  REQUIRE(release("keygen " + key) == 0);
  CHECK((fs::status(key).permissions() & fs::perms::mask) == (fs::perms::owner_read | fs::perms::owner_write));
  const std::string before = *read_file(key, crypto::kPemBytesMax);
  CHECK(release("keygen " + key) == 1);
  CHECK(*read_file(key, crypto::kPemBytesMax) == before);
}

TEST_CASE("a feed names its archives as they are") {
  const testing::TempDir folder;
  const std::string key = (folder / "release.key").string();
  REQUIRE(release("keygen " + key) == 0);
  const std::string content(5000, 'x');
  const fs::path archive = folder / "starling-1.2.0-linux-x86_64.tar.gz";
  REQUIRE(write_file_atomically(folder / "text", content).ok());
  REQUIRE(std::system(("gzip -c '" + (folder / "text").string() + "' > '" + archive.string() + "'").c_str()) == 0);
  const fs::path out = folder / "feed.json";
  REQUIRE(release("feed --key " + key + " --version 1.2.0 --notes Faster. --out " + out.string() + " " +
                  archive.string()) == 0);

  const auto public_key = crypto::PublicKey::from_pem(*read_file(key + ".pub", crypto::kPemBytesMax));
  REQUIRE(public_key.ok());
  const auto feed = manifest::verify_feed(*read_file(out, manifest::kSignedFeedBytesMax), *public_key);
  REQUIRE(feed.ok());
  CHECK(feed->version == "1.2.0");
  CHECK(feed->notes == "Faster.");
  REQUIRE(feed->files.size() == 1);
  CHECK(feed->files[0].platform == "linux-x86_64");
  CHECK(feed->files[0].name == "starling-1.2.0-linux-x86_64.tar.gz");
  CHECK(feed->files[0].bytes == static_cast<std::int64_t>(fs::file_size(archive)));
  CHECK(feed->files[0].unpacked_bytes == 5000);
  CHECK(feed->files[0].sha256 == *crypto::sha256_file(archive));
  CHECK(release("check --key " + key + ".pub " + out.string()) == 0);
}

TEST_CASE("archives of another version, and versions that are none, make no feed") {
  const testing::TempDir folder;
  const std::string key = (folder / "release.key").string();
  REQUIRE(release("keygen " + key) == 0);
  const fs::path archive = folder / "starling-1.2.0-linux-x86_64.tar.gz";
  REQUIRE(write_file_atomically(archive, "not empty").ok());
  const std::string feed = "feed --key " + key + " --out " + (folder / "feed.json").string();
  CHECK(release(feed + " --version 1.3.0 " + archive.string()) == 1);
  CHECK(release(feed + " --version nightly") == 1);
  CHECK(!fs::exists(folder / "feed.json"));
}

namespace {

// Three people's keys and the first root, signed by anna and ben.
struct Publisher {
  Publisher() {
    for (const char* name : {"anna", "ben", "clara", "dora", "thief"}) REQUIRE(release("keygen " + key(name)) == 0);
    REQUIRE(release("root --key " + key("anna") + ".pub --key " + key("ben") + ".pub --key " + key("clara") +
                    ".pub --out " + file("root.1.json")) == 0);
    REQUIRE(sign("root.1.json", "anna") == 0);
    REQUIRE(release("show " + file("root.1.json")) == 1);
    REQUIRE(sign("root.1.json", "ben") == 0);
    REQUIRE(release("show " + file("root.1.json")) == 0);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] std::string key(const std::string& name) const { return file(name + ".key"); }
  [[nodiscard]] int sign(const std::string& name, const std::string& person, const std::string& root = "") const {
    return release("sign " + file(name) + " --key " + key(person) + (root.empty() ? "" : " --root " + file(root)));
  }
  [[nodiscard]] bool feed_counts(const std::string& root) const {
    return release("check --root " + file(root) + " " + file("feed.json")) == 0;
  }

  testing::TempDir folder;
};

}  // namespace

TEST_CASE("two people sign a feed, one after the other") {
  const Publisher at;
  const std::string feed = "feed --root " + at.file("root.1.json") + " --version 1.2.0 --out " + at.file("feed.json");
  CHECK(release(feed + " --key " + at.key("thief")) == 1);
  CHECK(!fs::exists(at.file("feed.json")));
  REQUIRE(release(feed + " --key " + at.key("clara")) == 0);
  CHECK(!at.feed_counts("root.1.json"));
  CHECK(at.sign("feed.json", "clara", "root.1.json") == 1);  // twice
  CHECK(at.sign("feed.json", "thief", "root.1.json") == 1);
  CHECK(at.sign("feed.json", "anna") == 1);  // by which root?
  CHECK(!at.feed_counts("root.1.json"));
  fs::rename(at.file("feed.json"), at.file("there.json"));
  fs::create_symlink("there.json", at.file("feed.json"));
  CHECK(at.sign("feed.json", "anna", "root.1.json") == 0);
  CHECK(fs::is_symlink(at.file("feed.json")));
  CHECK(at.feed_counts("root.1.json"));
}

TEST_CASE("a lost key is replaced by the two others") {
  const Publisher at;
  const std::string rotate =
      "rotate --root " + at.file("root.1.json") + " --key " + at.key("dora") + ".pub --out " + at.file("root.2.json");
  CHECK(release(rotate + " --without nobody") == 1);
  REQUIRE(release(rotate + " --without anna") == 0);
  const std::string before = *read_file(at.file("root.2.json"), manifest::kSignedFeedBytesMax);
  CHECK(release(rotate + " --without anna") == 1);  // it would overwrite signatures
  CHECK(at.sign("root.2.json", "ben") == 1);        // its predecessor is not named
  CHECK(at.sign("root.2.json", "thief", "root.1.json") == 1);
  CHECK(*read_file(at.file("root.2.json"), manifest::kSignedFeedBytesMax) == before);
  CHECK(at.sign("root.2.json", "ben", "root.1.json") == 0);
  CHECK(release("show " + at.file("root.2.json") + " --root " + at.file("root.1.json")) == 1);
  CHECK(at.sign("root.2.json", "clara", "root.1.json") == 0);
  CHECK(release("show " + at.file("root.2.json") + " --root " + at.file("root.1.json")) == 0);
  REQUIRE(release("feed --root " + at.file("root.2.json") + " --key " + at.key("dora") + " --version 1.2.0 --out " +
                  at.file("feed.json")) == 0);
  CHECK(at.sign("feed.json", "anna", "root.2.json") == 1);
  CHECK(at.sign("feed.json", "ben", "root.2.json") == 0);
  CHECK(at.feed_counts("root.2.json"));
}
