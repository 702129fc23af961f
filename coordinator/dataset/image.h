// PNG and JPEG files as squares of bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "shared/base/result.h"

namespace starling::dataset {

constexpr std::size_t kImageBytesMax = 64U << 20;  // of a file
constexpr int kImagePixelsMax = 1 << 26;           // a small file can stand for many: these take 200 MB

// The middle square of the image, scaled to `side` pixels: `channels` (1 or 3) planes of side rows each. Images with
// other channels are converted. corrupt, naming the file, when it is no image, and for one beyond the limits.
Result<std::string> read_image(const std::filesystem::path& file, int channels, int side);

}  // namespace starling::dataset
