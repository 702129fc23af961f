#include "coordinator/dataset/image_folders.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "coordinator/dataset/examples.h"
#include "coordinator/dataset/listing.h"
#include "shared/base/os_error.h"

namespace starling::dataset {
namespace {

using Path = std::filesystem::path;
using Entry = std::filesystem::directory_entry;

constexpr std::size_t kNamedMax = 3;  // examples of each sort of things that were passed over

std::string ending_of(const Path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

bool is_image(const Path& file) {
  constexpr std::array<std::string_view, 5> kEndings = {".png", ".jpg", ".jpeg", ".jpe", ".jfif"};
  return std::find(kEndings.begin(), kEndings.end(), ending_of(file)) != kEndings.end();
}

bool is_hidden(const Path& path) { return path.filename().string().starts_with('.'); }

Result<std::vector<Entry>> sorted_entries(const Path& folder) {
  std::vector<Entry> found;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    found.push_back(*entry);
  }
  if (problem) return os_error("read", folder, problem.value());
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const Entry& entry) {
  std::error_code unknown;
  return entry.is_directory(unknown);
}

// Pictures somewhere in a folder; symbolic links are not followed.
std::int64_t images_below(const Path& folder) {
  std::int64_t images = 0;
  std::error_code problem;
  constexpr auto kSkip = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator entry(folder, kSkip, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (is_image(entry->path()) && !is_hidden(entry->path()) && !is_folder(*entry)) ++images;
  }
  return images;
}

// Collects the things that were passed over, sort by sort.
class PassedOver {
 public:
  explicit PassedOver(Path folder) : folder_(std::move(folder)) {}

  void hidden(const Path& path) { hidden_.push_back(named(path)); }
  void outside(const Path& file) { outside_.push_back(named(file)); }
  void without_images(const Path& folder) { without_images_.push_back(named(folder)); }
  void other_kind(const Path& file) {
    const std::string ending = ending_of(file);
    kinds_[ending.empty() ? "no ending" : ending].push_back(named(file));
  }
  void subfolder(const Path& folder) {
    subfolders_.push_back(fmt::format("{} with {} pictures", named(folder), images_below(folder)));
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    const auto add = [&notes](std::string_view what, const std::vector<std::string>& names) {
      if (names.empty()) return;
      notes.push_back(fmt::format("passed over, {}: {} ({})", what, names.size(), examples_of(names, ", ", kNamedMax)));
    };
    for (const auto& [kind, names] : kinds_) add(fmt::format("files that are no .png or .jpg, {}", kind), names);
    add("folders inside a class", subfolders_);
    add("folders without a .png or .jpg, which are no class", without_images_);
    add("files beside the classes' folders", outside_);
    add("names that begin with a dot", hidden_);
    return notes;
  }

 private:
  [[nodiscard]] std::string named(const Path& path) const {
    return fmt::format("'{}'", path.lexically_relative(folder_).string());
  }

  Path folder_;
  std::map<std::string, std::vector<std::string>> kinds_;  // by their endings
  std::vector<std::string> hidden_;
  std::vector<std::string> subfolders_;
  std::vector<std::string> without_images_;
  std::vector<std::string> outside_;
};

Result<std::vector<Path>> images_of_class(const Path& folder, PassedOver& passed_over) {
  std::vector<Path> images;
  STARLING_ASSIGN(const std::vector<Entry> entries, sorted_entries(folder));
  for (const Entry& entry : entries) {
    const Path& path = entry.path();
    if (is_hidden(path)) {
      passed_over.hidden(path);
    } else if (is_folder(entry)) {
      passed_over.subfolder(path);
    } else if (is_image(path)) {
      images.push_back(path);
    } else {
      passed_over.other_kind(path);
    }
  }
  return images;
}

}  // namespace

Result<ImageFolders> find_images(const Path& folder) {
  ImageFolders all;
  PassedOver passed_over(folder);
  STARLING_ASSIGN(const std::vector<Entry> entries, sorted_entries(folder));
  for (const Entry& entry : entries) {
    const Path& path = entry.path();
    if (is_hidden(path)) {
      passed_over.hidden(path);
    } else if (!is_folder(entry)) {
      passed_over.outside(path);
    } else {
      STARLING_ASSIGN(const std::vector<Path> images, images_of_class(path, passed_over));
      if (images.empty()) {
        passed_over.without_images(path);
        continue;
      }
      for (const Path& image : images) all.images.push_back({image, static_cast<std::int32_t>(all.classes.size())});
      all.classes.push_back({path.filename().string(), static_cast<std::int64_t>(images.size())});
    }
  }
  all.notes = passed_over.notes();
  if (all.classes.size() < 2) {
    std::string message = fmt::format(
        "read images of '{}': it must have a folder for each class, at least two, with .png or .jpg files in it",
        folder.string());
    for (const std::string& note : all.notes) message += "; " + note;
    return Error{ErrorCode::invalid_argument, message};
  }
  STARLING_TRY(check_class_names(all.classes));
  return all;
}

}  // namespace starling::dataset
