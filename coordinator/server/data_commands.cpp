#include <fmt/core.h>

#include <algorithm>

#include "coordinator/dataset/examples.h"
#include "coordinator/dataset/out_folder.h"
#include "coordinator/server/commands.h"
#include "shared/base/machine_limits.h"
#include "shared/base/plain_text.h"
#include "shared/base/words.h"

namespace starling::server {
namespace {

constexpr std::size_t kClassesTold = 100;  // the listing has all of them

void tell(const std::string& line) { fmt::print(stderr, "{}\n", plain_line(line)); }

// The labels of the classes, which the listing keeps.
void print_classes(const std::vector<dataset::ImageClass>& classes) {
  if (classes.empty()) return;
  std::vector<std::string> told;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    told.push_back(fmt::format("{} '{}' ({})", label, classes[label].name, classes[label].images));
  }
  fmt::print("{} classes, with their labels and numbers of images: {}\n", classes.size(),
             dataset::examples_of(told, ", ", kClassesTold));
}

void print_prepared(const dataset::Prepared& prepared, const dataset::CutRequests& cut, std::string_view what,
                    std::string_view setting) {
  std::int64_t bytes = prepared.data.validation.bytes;
  for (const wire::Shard& shard : prepared.data.shards) bytes += shard.file.bytes;
  fmt::print("{} {} to train on in {} shards, {} held out; {:.1f} MB\n", prepared.train_items, what,
             prepared.data.shards.size(), prepared.data.validation_items, static_cast<double>(bytes) / 1e6);
  print_classes(prepared.classes);
  for (const std::string& note : prepared.notes) fmt::print("{}\n", plain_line(note));
  fmt::print(
      "put the files of '{}' on as many web servers (https) as you like; run create asks each for one of them.\n",
      cut.out.string());
  fmt::print("manifest.toml:\n\n");
  fmt::print("  [model]\n  {} = {}\n\n  [data]\n  kind = \"{}\"\n", setting, prepared.choices,
             word_of(prepared.data.kind));
  fmt::print("  shards = \"{}\"\n  mirrors = [\"https://…/\"]  # none: the coordinator serves them\n",
             (std::filesystem::absolute(cut.out) / dataset::kListingName).string());
}

}  // namespace

Status prepare_text(const dataset::TextOptions& options) {
  if (options.tokenizer.empty() == (options.vocabulary == 0)) {
    return Error{ErrorCode::invalid_argument, "give either --vocabulary, to learn one, or --tokenizer"};
  }
  dataset::TextOptions with_threads = options;
  with_threads.threads = processors_allowed();
  dataset::Progress progress(tell);
  STARLING_ASSIGN(const dataset::Prepared prepared, dataset::prepare_text(with_threads, progress));
  print_prepared(prepared, options.cut, "tokens", "vocabulary");
  return {};
}

Status prepare_images(const dataset::ImageOptions& options) {
  dataset::Progress progress(tell);
  STARLING_ASSIGN(const dataset::Prepared prepared, dataset::prepare_images(options, progress));
  print_prepared(prepared, options.cut, "images", "classes");
  return {};
}

}  // namespace starling::server
