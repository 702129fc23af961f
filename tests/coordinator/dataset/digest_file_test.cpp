#include "coordinator/dataset/digest_file.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "tests/support/temp_dir.h"

using namespace starling;
using dataset::DigestFile;

namespace {

std::ptrdiff_t files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("a finished file has its digest as its name") {
  const testing::TempDir folder;
  auto file = DigestFile::create(folder.path());
  REQUIRE(file.ok());
  REQUIRE(file->write("two ").ok());
  REQUIRE(file->write("pieces").ok());
  const auto artefact = file->finish();
  REQUIRE(artefact.ok());
  CHECK(artefact->bytes == 10);
  CHECK(artefact->sha256 == crypto::sha256("two pieces"));
  CHECK(std::filesystem::file_size(folder / artefact->sha256.hex()) == 10);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a file that was not finished leaves nothing") {
  const testing::TempDir folder;
  {
    auto file = DigestFile::create(folder.path());
    REQUIRE(file.ok());
    REQUIRE(file->write("half").ok());
  }
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("what a killed process left is removed, what a living one writes and what is no such file stay") {
  const testing::TempDir folder;
  std::ofstream(folder / "import-1.tmp") << "left behind";
  std::ofstream(folder / "import-of-mine.txt") << "a person's";
  auto writing = DigestFile::create(folder.path());
  REQUIRE(writing.ok());
  dataset::remove_abandoned_files(folder.path());
  CHECK_FALSE(std::filesystem::exists(folder / "import-1.tmp"));
  CHECK(files_in(folder.path()) == 2);
}
