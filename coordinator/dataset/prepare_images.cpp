#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <system_error>
#include <utility>

#include "coordinator/dataset/image.h"
#include "coordinator/dataset/item_spool.h"
#include "coordinator/dataset/prepare.h"
#include "shared/base/os_error.h"
#include "shared/base/permutation.h"

namespace starling::dataset {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

struct Labelled {
  std::filesystem::path file;
  std::int32_t label = 0;
};

struct Folders {
  std::vector<std::string> classes;
  std::vector<Labelled> images;
};

bool is_image(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 3> kEndings = {".png", ".jpg", ".jpeg"};
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

// The folder's entries that pass, sorted by name.
template <typename Passes>
Result<std::vector<std::filesystem::path>> entries_of(const std::filesystem::path& folder, const Passes& passes) {
  std::vector<std::filesystem::path> found;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (passes(*entry)) found.push_back(entry->path());
  }
  if (problem) return os_error("read", folder, problem.value());
  std::sort(found.begin(), found.end());
  return found;
}

Result<Folders> find_images(const std::filesystem::path& folder) {
  Folders all;
  STARLING_ASSIGN(const auto classes, entries_of(folder, [](const auto& entry) { return entry.is_directory(); }));
  for (const std::filesystem::path& of_class : classes) {
    STARLING_ASSIGN(const auto images, entries_of(of_class, [](const auto& entry) { return is_image(entry.path()); }));
    if (images.empty()) continue;
    for (const auto& image : images) all.images.push_back({image, static_cast<std::int32_t>(all.classes.size())});
    all.classes.push_back(of_class.filename().string());
  }
  if (all.classes.size() > 1) return all;
  return Error{ErrorCode::invalid_argument,
               fmt::format("read images of '{}': it must have a folder for each class, at least two, with .png or .jpg "
                           "files in it",
                           folder.string())};
}

// Adds the images in an order drawn from the seed, so that every shard has images of all classes.
Status spool_images(const ImageOptions& options, const std::vector<Labelled>& images, ItemSpool& spool,
                    Progress& progress) {
  progress.begin("reading images", static_cast<std::int64_t>(images.size()), "images");
  const SeededPermutation order(options.seed, images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Labelled& image = images[order.at(i)];
    STARLING_ASSIGN(const std::string values, read_image(image.file, options.channels, options.side));
    STARLING_TRY(spool.append(0, values));
    std::array<char, sizeof image.label> label{};
    std::memcpy(label.data(), &image.label, sizeof image.label);
    STARLING_TRY(spool.append(1, {label.data(), label.size()}));
    progress.advance_to(static_cast<std::int64_t>(i + 1));
  }
  return {};
}

}  // namespace

Result<Prepared> prepare_images(const ImageOptions& options, Progress& progress) {
  STARLING_ASSIGN(const Folders found, find_images(options.folder));
  STARLING_ASSIGN(OutFolder out, OutFolder::open(options.cut.out));
  const wire::TensorInfo inputs{"inputs", wire::TensorType::u8, {options.channels, options.side, options.side}};
  const wire::TensorInfo labels{"labels", wire::TensorType::i32, {}};
  STARLING_ASSIGN(ItemSpool spool, ItemSpool::create(out.path(), {inputs, labels}));
  STARLING_TRY(spool_images(options, found.images, spool, progress));
  const std::int64_t most = (wire::kHeldOutBytesMax - kMegabyte) / (inputs.elements() + 4);
  const CutOptions cut{.kind = wire::DataKind::labelled,
                       .shard_bytes = static_cast<std::int64_t>(options.cut.shard_mb * kMegabyte),
                       .held_out_fraction = options.cut.held_out,
                       .held_out_max = std::min(kHeldOutImagesMax, most)};
  Prepared prepared;
  STARLING_ASSIGN(prepared.data, spool.cut(out, cut, progress));
  prepared.train_items = spool.items() - prepared.data.validation_items;
  prepared.choices = static_cast<int>(found.classes.size());
  STARLING_TRY(out.finish(prepared.data));
  return prepared;
}

}  // namespace starling::dataset
