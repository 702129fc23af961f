// The folder that a preparation fills: shards under the names of their digests and, when all are there, a listing of
// them. Nobody else's files lie in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/result.h"
#include "shared/wire/data_options.h"

namespace starling::dataset {

constexpr std::string_view kListingName = "shards.json";
constexpr std::string_view kTokenizerName = "tokenizer.model";

class OutFolder {
 public:
  // A new folder, an empty one, or one that a preparation was filling when it was killed: what that left is removed.
  // already_exists for any other, whose files are not touched, and while another process prepares there.
  static Result<OutFolder> open(const std::filesystem::path& path);
  OutFolder(OutFolder&& other) noexcept;
  OutFolder& operator=(OutFolder&&) = delete;
  // Removes everything in it unless finish() has been called.
  ~OutFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes the listing: from then on the folder is complete.
  Status finish(const wire::DataOptions& data);

 private:
  OutFolder(std::filesystem::path path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  [[nodiscard]] std::filesystem::path marker() const;

  std::filesystem::path path_;
  std::optional<FileLock> lock_;  // of the marker; none once it is finished
};

}  // namespace starling::dataset
