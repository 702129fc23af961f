// Turns an operator's files into shards of a run's data (wire::DataOptions), ready for any web server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/dataset/progress.h"
#include "shared/base/result.h"
#include "shared/run/data_options.h"

namespace starling::dataset {

// Most tokens or images to hold out: evaluations look at fewer.
constexpr std::int64_t kHeldOutTokensMax = 1 << 20;
constexpr std::int64_t kHeldOutImagesMax = 1 << 14;

// The operator's choices that texts and images share. `out` must be missing or empty; shard_mb is in millions of bytes,
// and a shard takes at most that.
struct CutRequests {
  std::filesystem::path out;
  double shard_mb = 32;
  double held_out = 0.01;  // fraction of all tokens or images, in (0, 0.5]
};

// Text files, whose tokens follow each other in this order; a token for the end of a text stands between two files.
struct TextOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path tokenizer;  // a SentencePiece model; empty: one is learned
  int vocabulary = 0;               // tokens of a learned tokenizer
  int threads = 1;
  double unknown_max = 0.01;   // share of unknown tokens, and of the text they stand for; more is refused
  double invalid_max = 0.001;  // share of a file's bytes that are no UTF-8 or zero; more is refused
  CutRequests cut{};
};

// A folder of images with one folder a class (image_folders.h). The middle square of each image is scaled to side x
// side pixels.
struct ImageOptions {
  std::filesystem::path folder;  // FOLDER/CLASS/IMAGE
  int side = 32;                 // pixels
  int channels = 3;              // 1 or 3
  std::uint64_t seed = 1;        // determines the order of the samples
  CutRequests cut{};
};

// A class, whose label is its place among the classes.
struct ImageClass {
  std::string name;  // its folder's
  std::int64_t images = 0;
};

// The written data set, in the words of a manifest.
struct Prepared {
  wire::DataOptions data;
  std::int64_t train_items = 0;
  int choices = 0;  // tokens or classes: the model's `vocabulary` or `classes` must equal it
  std::vector<ImageClass> classes{};
  std::vector<std::string> notes{};  // sentences for the operator: what was left out, and what is not as usual
};

// Fill the folder with the shards, a listing of them and, for text, the tokenizer. The folder must be new or empty;
// after a failure it is empty. Files are read in bounded memory. Both functions block until they are done.
Result<Prepared> prepare_text(const TextOptions& options, Progress& progress);
Result<Prepared> prepare_images(const ImageOptions& options, Progress& progress);

}  // namespace starling::dataset
