// The partial file of a download, "<destination>.part", which becomes the destination. For this folder's .cpp files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::net {

class ArtefactFile {
 public:
  // Opens or creates the part; keeps the bytes of an earlier try, if they can be its beginning.
  static Result<ArtefactFile> open(const std::filesystem::path& destination, std::int64_t bytes_expected);
  ArtefactFile(ArtefactFile&& other) noexcept;
  ArtefactFile& operator=(ArtefactFile&&) = delete;
  ~ArtefactFile();

  [[nodiscard]] std::int64_t size() const { return size_; }
  Status append(std::string_view bytes);
  Status clear();
  // Removes the part, whose bytes are of no use to anybody.
  void remove() const;
  // Checks size and digest, makes the bytes durable and moves them to the destination. On corrupt the part is removed.
  Status finish(const Digest& sha256);

 private:
  ArtefactFile(std::filesystem::path destination, int fd, std::int64_t size, std::int64_t expected)
      : destination_(std::move(destination)), fd_(fd), size_(size), expected_(expected) {}
  [[nodiscard]] std::filesystem::path part() const;

  std::filesystem::path destination_;
  int fd_;
  std::int64_t size_;
  std::int64_t expected_;
};

}  // namespace starling::net
