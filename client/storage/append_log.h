// A file of lines that only grows: each line is on disk when append() returns. A crash can tear only the line that was
// being written, which is removed when the file is opened again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::storage {

constexpr std::size_t kLogLineMax = (1 << 20) + 4096;

class AppendLog {
 public:
  // Makes the file if needed. A file without a line end where one must be is set aside as *.corrupt.
  static Result<AppendLog> open(const std::filesystem::path& path);

  enum class Durability { now, with_the_next };
  // `line` has no line end. On failure (a full disk) the file is unchanged. Durability::with_the_next saves a wait for
  // the disk: the line becomes durable with the next one.
  Status append(std::string_view line, Durability durability = Durability::now);
  // The last line when the file was opened; empty when there was none.
  [[nodiscard]] const std::string& last_line() const { return last_line_; }

 private:
  AppendLog(std::filesystem::path path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status cut_torn_line();

  std::filesystem::path path_;
  UniqueFd fd_;
  std::size_t bytes_ = 0;
  std::string last_line_;
};

}  // namespace starling::storage
