#include "coordinator/dataset/text_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "coordinator/dataset/examples.h"
#include "shared/base/os_error.h"

namespace starling::dataset {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
static_assert(kReadBytes > 2 * kPieceBytesMax);

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }

// The end of a piece of a line that is too long: behind its last blank, or between two characters.
std::size_t break_of(std::string_view text) {
  const std::size_t blank = text.find_last_of(" \t");
  if (blank != std::string_view::npos && blank > 0) return blank + 1;
  std::size_t end = text.size() - 1;
  while (end > text.size() - 4 && continues_character(text[end])) --end;
  return end;
}

Result<std::int64_t> bytes_of(const std::filesystem::path& file) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(file, problem);
  if (!std::filesystem::exists(status)) return os_error("read", file, problem ? problem.value() : ENOENT);
  if (!std::filesystem::is_regular_file(status)) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("read '{}': it is {}", file.string(),
                             std::filesystem::is_directory(status)
                                 ? "a folder; name the files in it"
                                 : "no file; text is read more than once, so that a pipe will not do")};
  }
  if (!std::ifstream(file)) return os_error("read", file, errno);
  return static_cast<std::int64_t>(std::filesystem::file_size(file, problem));
}

}  // namespace

Result<TextReader> TextReader::open(std::vector<std::filesystem::path> files) {
  TextReader reader;
  std::optional<ErrorCode> failed;
  std::vector<std::string> why;
  for (const std::filesystem::path& file : files) {
    const Result<std::int64_t> bytes = bytes_of(file);
    if (bytes.ok()) {
      reader.bytes_total_ += *bytes;
      continue;
    }
    if (!failed) failed = bytes.error().code;
    why.push_back(bytes.error().message);
  }
  if (failed) return Error{*failed, examples_of(why)};
  if (reader.bytes_total_ == 0) return Error{ErrorCode::invalid_argument, "read text: the files are empty"};
  reader.files_ = std::move(files);
  return reader;
}

void TextReader::rewind() {
  next_file_ = 0;
  file_is_open_ = false;
  buffer_.clear();
  at_ = 0;
  bytes_read_ = 0;
}

// Reads more of the open file; false if it has no more.
bool TextReader::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kReadBytes);
  file_.read(buffer_.data() + had, static_cast<std::streamsize>(kReadBytes));
  const auto got = static_cast<std::size_t>(file_.gcount());
  buffer_.resize(had + got);
  bytes_read_ += static_cast<std::int64_t>(got);
  if (file_.bad()) status_ = os_error("read", files_[next_file_ - 1], errno);
  return got > 0;
}

// Takes the next piece from the buffer, without the end of the line; false if the file has no more.
bool TextReader::take_piece() {
  while (true) {
    const auto left = [this] { return std::string_view(buffer_).substr(at_); };
    while (left().substr(0, kPieceBytesMax).find('\n') == std::string_view::npos && left().size() < kPieceBytesMax) {
      if (!fill()) break;
    }
    const std::string_view now = left();
    if (now.empty()) return false;
    const std::size_t line_end = now.substr(0, kPieceBytesMax).find('\n');
    std::size_t taken = now.size();
    if (line_end != std::string_view::npos) {
      taken = line_end;
    } else if (now.size() >= kPieceBytesMax) {
      taken = break_of(now.substr(0, kPieceBytesMax));
    }
    piece_ = now.substr(0, taken);
    at_ += taken + (line_end != std::string_view::npos ? 1 : 0);
    std::erase(piece_, '\0');
    while (!piece_.empty() && (piece_.back() == '\r' || piece_.back() == ' ')) piece_.pop_back();
    if (!piece_.empty()) return true;
  }
}

bool TextReader::next() {
  passed_end_ = false;
  while (status_.ok()) {
    if (file_is_open_ && take_piece()) return status_.ok();
    passed_end_ |= file_is_open_;
    file_is_open_ = false;
    if (!status_.ok() || next_file_ == files_.size()) return false;
    file_ = std::ifstream(files_[next_file_], std::ios::binary);
    if (!file_) status_ = os_error("read", files_[next_file_], errno);
    ++next_file_;
    file_is_open_ = status_.ok();
    buffer_.clear();
    at_ = 0;
  }
  return false;
}

}  // namespace starling::dataset
