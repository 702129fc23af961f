// Fashion-MNIST (Xiao, Rasul and Vollgraf, arXiv 1708.07747), from Debian's package dataset-fashion-mnist: pictures of
// clothes, 28 x 28 grey pixels, in ten classes; 60 000 to train on and 10 000 held out. Files are in the IDX format of
// MNIST, big-endian, gzip around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "shared/base/result.h"

namespace starling::sim {

constexpr std::size_t kFashionPixels = std::size_t{28} * 28;
constexpr std::size_t kFashionClasses = 10;
inline const std::filesystem::path kFashionFolder = "/usr/share/datasets/fashion-mnist";

// Pictures and their classes, in the order of the files.
struct FashionSet {
  std::vector<std::uint8_t> pixels;   // kFashionPixels for each picture, row by row, 0: black
  std::vector<std::uint8_t> classes;  // 0 to kFashionClasses - 1

  [[nodiscard]] std::size_t size() const { return classes.size(); }
  // Writes a picture's pixels with the mean and the deviation of the training set's taken out.
  void read(std::size_t picture, std::span<float> to) const;
};

// Both parts of the data.
struct Fashion {
  FashionSet training;
  FashionSet held_out;
};

// not_found, with the package's name, where a file is missing; corrupt where one is not what it should be.
Result<Fashion> read_fashion(const std::filesystem::path& folder = kFashionFolder);

}  // namespace starling::sim
