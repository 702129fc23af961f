// Reads text files line by line in bounded memory: a line that is too long comes in pieces that end at a blank. Bytes
// that are zero are left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace starling::dataset {

constexpr std::size_t kPieceBytesMax = 4096;

class TextReader {
 public:
  // Errors: not_found or io, naming all files that cannot be read; invalid_argument if all files are empty.
  static Result<TextReader> open(std::vector<std::filesystem::path> files);

  // Reads the next piece, which has 1 to kPieceBytesMax bytes; false at the end of the last file, and on an error.
  bool next();
  [[nodiscard]] const std::string& piece() const { return piece_; }
  // Whether the last next() passed from one file into the following one, or reached the end of the last.
  [[nodiscard]] bool passed_end_of_file() const { return passed_end_; }
  [[nodiscard]] const Status& status() const { return status_; }

  [[nodiscard]] std::int64_t bytes_total() const { return bytes_total_; }
  [[nodiscard]] std::int64_t bytes_read() const { return bytes_read_; }
  void rewind();

 private:
  bool fill();
  bool take_piece();

  std::vector<std::filesystem::path> files_;
  std::int64_t bytes_total_ = 0;
  std::size_t next_file_ = 0;
  std::ifstream file_;
  bool file_is_open_ = false;
  std::string buffer_;  // bytes read from the file
  std::size_t at_ = 0;  // bytes of the buffer already given out
  std::string piece_;
  bool passed_end_ = false;
  std::int64_t bytes_read_ = 0;
  Status status_;
};

}  // namespace starling::dataset
