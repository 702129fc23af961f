// An operator's files become shards of a run's data (wire::DataOptions), ready to be put on any web server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "coordinator/dataset/progress.h"
#include "shared/base/result.h"
#include "shared/wire/data_options.h"

namespace starling::dataset {

// Words or samples that are held out, at most: evaluations look at fewer.
constexpr std::int64_t kHeldOutTokensMax = 1 << 20;
constexpr std::int64_t kHeldOutImagesMax = 1 << 14;

struct CutWishes {
  std::filesystem::path out;
  double shard_mb = 32;
  double held_out = 0.01;  // of all words or samples, in (0, 0.5]
};

struct TextOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path tokenizer;  // a SentencePiece model; empty: one is learned, with …
  int vocabulary = 0;               // … so many tokens
  int threads = 1;
  CutWishes cut{};
};

struct ImageOptions {
  std::filesystem::path folder;  // FOLDER/CLASS/IMAGE
  int side = 32;                 // pixels
  int channels = 3;              // 1 or 3
  std::uint64_t seed = 1;        // of the order of the samples
  CutWishes cut{};
};

struct Prepared {
  wire::DataOptions data;
  std::int64_t train_items = 0;
  int choices = 0;  // of words or classes: what the model's `vocabulary` or `classes` must be
};

// The folder then has the shards, a listing of them, and for text the tokenizer. It is new or empty before; after a
// failure it is empty. Files are read in bounded memory. Blocks for as long as it takes.
Result<Prepared> prepare_text(const TextOptions& options, Progress& progress);
Result<Prepared> prepare_images(const ImageOptions& options, Progress& progress);

}  // namespace starling::dataset
