// A reply as bytes for the wire, and the client that it is for.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "shared/base/ids.h"

namespace starling::gate {

// The sender of a request, as proven by the connection.
struct Caller {
  std::optional<PeerId> peer;
  std::string address;
};

// A piece of an open file.
class FileSlice {
 public:
  FileSlice() = default;
  FileSlice(int fd, std::int64_t offset, std::int64_t length) : fd_(fd), offset_(offset), left_(length) {}
  FileSlice(FileSlice&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), offset_(other.offset_), left_(std::exchange(other.left_, 0)) {}
  FileSlice& operator=(FileSlice&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(offset_, other.offset_);
    std::swap(left_, other.left_);
    return *this;
  }
  ~FileSlice() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] bool empty() const { return left_ == 0; }
  // Appends up to `bytes_max` bytes; false if the file ends early or cannot be read.
  bool read_some(std::string& to, std::size_t bytes_max);

 private:
  int fd_ = -1;
  std::int64_t offset_ = 0;
  std::int64_t left_ = 0;
};

struct Reply {
  std::string bytes;  // status line, headers, body
  FileSlice file;     // sent after the bytes
  bool close = false;
};

// An answer by the gate itself, with an ErrorReply as its body.
Reply error_reply(int status, const std::string& message, bool close);

}  // namespace starling::gate
