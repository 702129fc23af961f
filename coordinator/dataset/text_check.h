// Looks at text files before anything is made of them: other encodings, archives and documents would be trained on
// without a word.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/dataset/progress.h"
#include "shared/base/result.h"

namespace starling::dataset {

// Number of a text's bytes, and of those that have no place in text.
struct ByteCounts {
  std::int64_t all = 0;
  std::int64_t invalid = 0;  // in no character of UTF-8
  std::int64_t nuls = 0;
};

// Counts the bytes of a text that comes in pieces.
class ByteCounter {
 public:
  void add(std::string_view bytes);
  // Call it after the last piece: bytes of a character that was cut off are invalid.
  ByteCounts finish();

 private:
  void add_byte(unsigned char byte);
  void begin_character(unsigned char byte);

  ByteCounts counts_;
  int seen_ = 0;                // bytes of the present character
  int wanted_ = 0;              // bytes that are still to come of it
  unsigned char least_ = 0x80;  // range of the next one
  unsigned char most_ = 0xbf;
};

// Reads all files. Returns what is to be said about those in which less than `invalid_max` of the bytes are no text.
// Error invalid_argument, naming each file: it has more of them, or it is of another kind (file_kind.h); io.
Result<std::vector<std::string>> check_texts(std::span<const std::filesystem::path> files, double invalid_max,
                                             Progress& progress);

// A sentence about a file of another kind than text, by its first bytes; empty for one that may be text, and for one
// that cannot be read.
std::string why_no_text(const std::filesystem::path& file);

}  // namespace starling::dataset
