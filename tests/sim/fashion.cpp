#include "tests/sim/fashion.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "shared/base/verify.h"

namespace starling::sim {
namespace {

constexpr float kMean = 0.2860F, kDeviation = 0.3530F;  // the training set's, where black is 0 and white is 1
constexpr std::uint32_t kBytesOfOneDimension = 0x801, kBytesOfThreeDimensions = 0x803;  // the format's first number

struct CloseFile {
  void operator()(gzFile file) const { ::gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, CloseFile>;

Error damaged(const std::filesystem::path& path) {
  return {ErrorCode::corrupt, fmt::format("read '{}': it is no such file of Fashion-MNIST", path.string())};
}

bool read_exactly(gzFile file, std::span<std::uint8_t> to) {
  return ::gzread(file, to.data(), static_cast<unsigned>(to.size())) == static_cast<int>(to.size());
}

bool read_number(gzFile file, std::uint32_t& number) {
  std::uint8_t bytes[4];
  if (!read_exactly(file, bytes)) return false;
  number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8 | byte;
  return true;
}

// Reads a file of `count` items of `item` bytes each.
Result<std::vector<std::uint8_t>> read_items(const std::filesystem::path& path, std::uint32_t count, std::size_t item) {
  const File file(::gzopen(path.c_str(), "rb"));
  if (!file) {
    return Error{ErrorCode::not_found,
                 fmt::format("read '{}': it is not there; install the package dataset-fashion-mnist", path.string())};
  }
  std::vector<std::uint32_t> header{kBytesOfOneDimension, count};
  if (item > 1) header = {kBytesOfThreeDimensions, count, 28, 28};
  for (const std::uint32_t expected : header) {
    std::uint32_t found = 0;
    if (!read_number(file.get(), found) || found != expected) return damaged(path);
  }
  std::vector<std::uint8_t> bytes(count * item);
  if (!read_exactly(file.get(), bytes)) return damaged(path);
  return bytes;
}

Result<FashionSet> read_set(const std::filesystem::path& folder, const std::string& name, std::uint32_t count) {
  const std::filesystem::path labels = folder / (name + "-labels-idx1-ubyte.gz");
  FashionSet set;
  STARLING_ASSIGN(set.pixels, read_items(folder / (name + "-images-idx3-ubyte.gz"), count, kFashionPixels));
  STARLING_ASSIGN(set.classes, read_items(labels, count, 1));
  if (std::ranges::any_of(set.classes, [](std::uint8_t one) { return one >= kFashionClasses; })) return damaged(labels);
  return set;
}

}  // namespace

void FashionSet::read(std::size_t picture, std::span<float> to) const {
  VERIFY(picture < size() && to.size() == kFashionPixels);
  const std::uint8_t* from = pixels.data() + picture * kFashionPixels;
  for (std::size_t i = 0; i < kFashionPixels; ++i) to[i] = (static_cast<float>(from[i]) / 255 - kMean) / kDeviation;
}

Result<Fashion> read_fashion(const std::filesystem::path& folder) {
  Fashion fashion;
  STARLING_ASSIGN(fashion.training, read_set(folder, "train", 60'000));
  STARLING_ASSIGN(fashion.held_out, read_set(folder, "t10k", 10'000));
  return fashion;
}

}  // namespace starling::sim
