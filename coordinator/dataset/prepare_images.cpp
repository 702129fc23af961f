#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "coordinator/dataset/examples.h"
#include "coordinator/dataset/image.h"
#include "coordinator/dataset/image_folders.h"
#include "coordinator/dataset/item_spool.h"
#include "coordinator/dataset/prepare.h"
#include "shared/base/permutation.h"

namespace starling::dataset {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

// Adds the images in an order drawn from the seed, so that every shard has images of all classes. Once one is broken
// the others are only looked at: the error names all broken ones, not the first.
Status spool_images(const ImageOptions& options, const std::vector<LabelledImage>& images, ItemSpool& spool,
                    Progress& progress) {
  progress.begin("reading images", static_cast<std::int64_t>(images.size()), "images");
  const SeededPermutation order(options.seed, images.size());
  std::optional<ErrorCode> failed;
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const LabelledImage& image = images[order.at(i)];
    const Result<std::string> values = read_image(image.file, options.channels, options.side);
    progress.advance_to(static_cast<std::int64_t>(i + 1));
    if (!values.ok()) {
      if (!failed) failed = values.error().code;
      broken.push_back(values.error().message);
      continue;
    }
    if (failed) continue;
    STARLING_TRY(spool.append(0, *values));
    std::array<char, sizeof image.label> label{};
    std::memcpy(label.data(), &image.label, sizeof image.label);
    STARLING_TRY(spool.append(1, {label.data(), label.size()}));
  }
  if (!failed) return {};
  std::sort(broken.begin(), broken.end());
  return Error{*failed, fmt::format("{} of {} images cannot be used; repair them or take them away: {}", broken.size(),
                                    images.size(), examples_of(broken))};
}

}  // namespace

Result<Prepared> prepare_images(const ImageOptions& options, Progress& progress) {
  STARLING_ASSIGN(const ImageFolders found, find_images(options.folder));
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
  prepared.classes = found.classes;
  prepared.notes = found.notes;
  STARLING_TRY(out.finish(prepared.data, prepared.classes));
  return prepared;
}

}  // namespace starling::dataset
