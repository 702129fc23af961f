// PNG and JPEG files as squares of bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "shared/base/result.h"

namespace starling::dataset {

constexpr std::size_t kImageBytesMax = 64U << 20;  // the largest file
constexpr int kImagePixelsMax = 1 << 26;           // a small file can expand to many: these take 200 MB

// The middle square of the image, scaled to `side` pixels and upright (orientation.h): `channels` (1 or 3) planes of
// `side` rows each. Images with other channels are converted. Error corrupt, naming the file: it is not an image, or it
// is beyond the limits.
Result<std::string> read_image(const std::filesystem::path& file, int channels, int side);

}  // namespace starling::dataset
