#include "coordinator/dataset/text_check.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "coordinator/dataset/file_kind.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::dataset;
using namespace std::string_literals;

namespace {

std::filesystem::path put(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

ByteCounts counted(std::string_view text) {
  ByteCounter counter;
  for (const char byte : text) counter.add({&byte, 1});  // the pieces cut characters
  const ByteCounts counts = counter.finish();
  ByteCounter whole;
  whole.add(text);
  CHECK(whole.finish().invalid == counts.invalid);
  return counts;
}

Result<std::vector<std::string>> checked(const std::vector<std::filesystem::path>& files, double invalid_max = 0.001) {
  Progress progress([](const std::string&) {});
  return check_texts(files, invalid_max, progress);
}

std::string refusal(const std::filesystem::path& file) {
  const auto result = checked({file});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::invalid_argument);
  CHECK(result.error().message.find(file.string()) != std::string::npos);
  return result.error().message;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A text in an encoding that has that number of bytes for each letter.
std::string wide(std::size_t bytes, bool big_endian) {
  std::string text;
  for (const char letter : "Bread and river, stone and light; nothing else is in this text."s) {
    std::string word(bytes, '\0');
    word[big_endian ? bytes - 1 : 0] = letter;
    text += word;
  }
  return text;
}

}  // namespace

TEST_CASE("bytes that are of no character in UTF-8 are counted, wherever the pieces end") {
  CHECK(counted("").invalid == 0);
  CHECK(counted("plain, \u00e9\u0416\u4e2d\U0001F600\U0010FFFF").invalid == 0);
  CHECK(counted("\x80").invalid == 1);
  CHECK(counted("a\xe9 b").invalid == 1);   // Latin-1
  CHECK(counted("\xc0\xaf").invalid == 2);  // a longer form of '/'
  CHECK(counted("\xe0\x80\xaf").invalid == 3);
  CHECK(counted("\xf0\x80\x80\xaf").invalid == 4);
  CHECK(counted("\xed\xa0\x80").invalid == 3);      // half of a pair
  CHECK(counted("\xf4\x90\x80\x80").invalid == 4);  // behind the last character
  CHECK(counted("\xf5 \xff\xfe").invalid == 3);
  CHECK(counted("\xe4\xb8").invalid == 2);  // cut off
  CHECK(counted("\xe4\xb8 \xe4\xb8\xad").invalid == 2);
  CHECK(counted("\xc3\xc3\xa9").invalid == 1);
  CHECK(counted("a\0b\0"s).nuls == 2);
  CHECK(counted("a\0b\0"s).all == 4);
  CHECK(counted("\xc3\0"s).invalid == 1);
  CHECK(counted("\xc3\0"s).nuls == 1);
}

TEST_CASE("text passes, and a few damaged bytes are told") {
  const testing::TempDir folder;
  const std::string text(100'000, 'x');
  const auto good = put(folder / "good.txt", "\xef\xbb\xbf" + text);
  const auto damaged = put(folder / "damaged.txt", text + "\xff\xfe" + text + "\0"s);
  const auto notes = checked({good, damaged});
  REQUIRE_MESSAGE(notes.ok(), notes.error().message);
  REQUIRE(notes->size() == 2);
  CHECK(has((*notes)[0], "no UTF-8"));
  CHECK(has((*notes)[0], "2 in '" + damaged.string() + "'"));
  CHECK(has((*notes)[1], "1 in '" + damaged.string() + "'"));
  CHECK(checked({good})->empty());
  CHECK_FALSE(checked({good, damaged}, 0.000001).ok());
}

TEST_CASE("another encoding is refused, unless the operator bears it") {
  const testing::TempDir folder;
  const auto latin = put(folder / "latin.txt", "Le fleuve \xe9tait gris, et la rive \xe0 peine visible.");
  CHECK(has(refusal(latin), "iconv -f ISO-8859-1"));
  CHECK(checked({latin}, 1).ok());
  for (const bool big_endian : {false, true}) {
    CHECK(has(refusal(put(folder / "16", wide(2, big_endian))), "UTF-16"));
    CHECK(has(refusal(put(folder / "32", wide(4, big_endian))), "UTF-32"));
  }
  CHECK(has(refusal(put(folder / "nul", "some words" + std::string(1, '\0') + "and more")), "zero"));
}

TEST_CASE("files of other kinds are refused by their first bytes, all of them at once") {
  const testing::TempDir folder;
  const std::string tar = std::string(257, 'a') + "ustar  \0"s;
  const std::vector<std::pair<std::string, std::string>> kinds = {{"\xff\xfe"
                                                                   "a\0b\0"s,
                                                                   "UTF-16"},
                                                                  {"\xfe\xff"
                                                                   "\0a"s,
                                                                   "UTF-16"},
                                                                  {"\xff\xfe\0\0"
                                                                   "a"s,
                                                                   "UTF-32"},
                                                                  {"\0\0\xfe\xff"s, "UTF-32"},
                                                                  {"\x1f\x8b\x08", "gzip"},
                                                                  {"PK\x03\x04", "ZIP"},
                                                                  {"%PDF-1.7\n", "PDF"},
                                                                  {"\xfd"
                                                                   "7zXZ\0"s,
                                                                   "xz"},
                                                                  {"\x28\xb5\x2f\xfd", "zstd"},
                                                                  {"BZh91AY&SY", "bzip2"},
                                                                  {tar, "tar"},
                                                                  {"{\\rtf1", "RTF"},
                                                                  {"\x89PNG", "PNG"}};
  std::vector<std::filesystem::path> files = {put(folder / "good.txt", "some words")};
  for (const auto& [bytes, name] : kinds) {
    files.push_back(put(folder / std::to_string(files.size()), bytes));
    CHECK_MESSAGE(has(refusal(files.back()), name), name);
    CHECK(has(why_no_text(files.back()), name));
  }
  CHECK(why_no_text(files.front()).empty());
  CHECK(why_no_text(folder / "nowhere").empty());
  const auto all = checked(files, 1);
  REQUIRE_FALSE(all.ok());
  CHECK(has(all.error().message, "13 of 14"));
  for (std::size_t i = 1; i < files.size(); ++i) CHECK(has(all.error().message, "'" + files[i].string() + "'"));
}
