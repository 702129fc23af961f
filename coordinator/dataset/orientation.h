// How a photograph must be turned to stand upright: cameras keep that beside the pixels, in EXIF data.
#pragma once

#include <string>
#include <string_view>

namespace starling::dataset {

// The orientation in the EXIF data of a JPEG or PNG file, 1 to 8 as EXIF numbers them; 1, upright, where it has none.
int exif_orientation(std::string_view file);

// Turns and mirrors a square of side x side pixels, each of `channels` bytes, so that it stands upright.
std::string upright(std::string_view square, int side, int channels, int orientation);

}  // namespace starling::dataset
