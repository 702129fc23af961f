#include "coordinator/dataset/text_reader.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

using namespace starling;
using dataset::kPieceBytesMax;
using dataset::TextReader;

namespace {

std::filesystem::path put(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::vector<std::string> all_of(TextReader& reader) {
  std::vector<std::string> pieces;
  while (reader.next()) pieces.push_back((reader.passed_end_of_file() ? "|" : "") + reader.piece());
  REQUIRE(reader.status().ok());
  return pieces;
}

}  // namespace

TEST_CASE("lines come one by one, empty ones not, and ends of files are told") {
  const testing::TempDir folder;
  auto reader = TextReader::open(
      {put(folder / "a", "one\r\n\n  \ntwo\n"), put(folder / "b", ""), put(folder / "c", "three, without an end")});
  REQUIRE(reader.ok());
  const std::vector<std::string> expected = {"one", "two", "|three, without an end"};
  CHECK(all_of(*reader) == expected);
  CHECK(reader->bytes_read() == reader->bytes_total());
  reader->rewind();
  CHECK(all_of(*reader) == expected);
}

TEST_CASE("a file that is one line comes in pieces that end at blanks, and none of it is lost") {
  const testing::TempDir folder;
  std::string text;
  while (text.size() < 3'000'000) text += "word" + std::to_string(text.size()) + " ";
  auto reader = TextReader::open({put(folder / "a", text)});
  REQUIRE(reader.ok());
  std::string together;
  while (reader->next()) {
    REQUIRE(reader->piece().size() <= kPieceBytesMax);
    CHECK(reader->piece().back() != ' ');
    together += reader->piece() + " ";
  }
  CHECK(together == text);
}

TEST_CASE("a line without blanks is cut between characters") {
  const testing::TempDir folder;
  std::string text = "x";
  for (int i = 0; i < 5000; ++i) text += "\u00e4";
  auto reader = TextReader::open({put(folder / "a", text)});
  REQUIRE(reader.ok());
  std::string together;
  while (reader->next()) {
    CHECK((static_cast<unsigned char>(reader->piece().front()) & 0xc0U) != 0x80);
    together += reader->piece();
  }
  CHECK(together == text);
}

TEST_CASE("bytes that are zero are left out, and a line of them is none") {
  const testing::TempDir folder;
  auto reader = TextReader::open({put(folder / "a", std::string("o\0ne\0\n\0\0 \0\ntwo", 15))});
  REQUIRE(reader.ok());
  CHECK(all_of(*reader) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("all files that cannot be read are named") {
  const testing::TempDir folder;
  const auto refused = TextReader::open({folder / "first.txt", put(folder / "good", "text"), folder / "second.txt"});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("first.txt") != std::string::npos);
  CHECK(refused.error().message.find("second.txt") != std::string::npos);
  CHECK(refused.error().message.find("good") == std::string::npos);
}

TEST_CASE("files that are not there, are none, or are empty are refused by their names") {
  const testing::TempDir folder;
  const auto missing = TextReader::open({folder / "nowhere.txt"});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message.find("nowhere.txt") != std::string::npos);
  CHECK(TextReader::open({folder.path()}).error().message.find("it is a folder") != std::string::npos);
  CHECK(TextReader::open({"/dev/null"}).error().message.find("a pipe will not do") != std::string::npos);
  CHECK_FALSE(TextReader::open({put(folder / "a", "")}).ok());
}
