// The folder that a preparation fills: shards named after their digests and, when all are there, a listing of them. It
// holds no other files.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coordinator/dataset/prepare.h"
#include "shared/base/files.h"
#include "shared/base/result.h"
#include "shared/run/data_options.h"

namespace starling::dataset {

constexpr std::string_view kListingName = "shards.json";
constexpr std::string_view kTokenizerName = "tokenizer.model";

class OutFolder {
 public:
  // Opens a new folder, an empty one, or one whose preparation was killed: the files of that one are removed. Error
  // already_exists: any other folder, whose files are not touched, or a folder in which another process prepares.
  static Result<OutFolder> open(const std::filesystem::path& path);
  OutFolder(OutFolder&& other) noexcept;
  OutFolder& operator=(OutFolder&&) = delete;
  // Removes everything in it unless finish() has been called.
  ~OutFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes the listing (listing.h), which makes the folder complete.
  Status finish(const wire::DataOptions& data, std::span<const ImageClass> classes = {});

 private:
  OutFolder(std::filesystem::path path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  [[nodiscard]] std::filesystem::path marker() const;

  std::filesystem::path path_;
  std::optional<FileLock> lock_;  // on the marker; empty once it is finished
};

}  // namespace starling::dataset
