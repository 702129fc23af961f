#include "shared/base/files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/support/temp_dir.h"

using namespace starling;

TEST_CASE("a written file is read back whole, with the asked permissions") {
  const testing::TempDir dir;
  const std::string bytes(100000, 'x');
  REQUIRE(write_file_atomically(dir / "a", bytes, {.mode = 0600}).ok());
  CHECK(*read_file(dir / "a", 1 << 20) == bytes);
  struct stat info {};
  REQUIRE(::stat((dir / "a").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a file over the limit is refused") {
  const testing::TempDir dir;
  REQUIRE(write_file_atomically(dir / "a", "12345").ok());
  const auto result = read_file(dir / "a", 4);
  REQUIRE(!result.ok());
  CHECK(result.error().code == ErrorCode::corrupt);
}

TEST_CASE("a write that fails names the path and leaves no temporary file") {
  const testing::TempDir dir;
  REQUIRE(ensure_directory(dir / "taken").ok());
  const Status status = write_file_atomically(dir / "taken", "x");  // a folder cannot be replaced by a file
  REQUIRE(!status.ok());
  CHECK(status.error().message.find("taken") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
}

TEST_CASE("links, pipes and devices that a person names stay what they are") {
  const testing::TempDir dir;
  REQUIRE(write_file_atomically(dir / "target", "old").ok());
  REQUIRE(::symlink("target", (dir / "link").c_str()) == 0);
  REQUIRE(write_where_told(dir / "link", "new").ok());
  CHECK(std::filesystem::is_symlink(dir / "link"));
  CHECK(*read_file(dir / "target", 100) == "new");

  std::filesystem::create_directory(dir / "elsewhere");
  REQUIRE(::symlink("elsewhere/next", (dir / "first").c_str()) == 0);
  REQUIRE(::symlink("../there", (dir / "elsewhere" / "next").c_str()) == 0);
  REQUIRE(write_where_told(dir / "first", "made", {.mode = 0600}).ok());  // nothing is there yet
  CHECK(std::filesystem::is_symlink(dir / "first"));
  CHECK(std::filesystem::is_symlink(dir / "elsewhere" / "next"));
  CHECK(*read_file(dir / "there", 100) == "made");

  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  const int reader = ::open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  REQUIRE(write_where_told(dir / "pipe", "told").ok());
  char got[16];
  CHECK(::read(reader, got, sizeof got) == 4);
  ::close(reader);
  CHECK(std::filesystem::is_fifo(dir / "pipe"));

  const std::string full = "/dev/full";  // nothing can be written there, and nothing is lost if this goes wrong
  CHECK(write_where_told(full, "x").error().code == ErrorCode::resource_exhausted);
  CHECK(std::filesystem::is_character_file(full));
  REQUIRE(write_where_told(dir / "new", "first", {.mode = 0600}).ok());
  CHECK(*read_file(dir / "new", 100) == "first");
}

TEST_CASE("a folder has one lock holder at a time") {
  const testing::TempDir dir;
  {
    const auto first = FileLock::acquire(dir / "lock");
    REQUIRE(first.ok());
    const auto second = FileLock::acquire(dir / "lock");
    REQUIRE(!second.ok());
    CHECK(second.error().code == ErrorCode::already_exists);
  }
  CHECK(FileLock::acquire(dir / "lock").ok());
}
