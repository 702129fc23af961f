#include "coordinator/dataset/orientation.h"

#include <cstddef>
#include <cstdint>

#include "shared/base/verify.h"

namespace starling::dataset {
namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShort = 3;  // TIFF's name of 16 bits
constexpr std::size_t kEntryBytes = 12;

// A number at a place of the bytes; 0 behind their end.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size, bool big_endian) {
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[big_endian ? at + i : at + size - 1 - i]);
    number = number << 8U | byte;
  }
  return number;
}

// EXIF data are a TIFF file without a picture.
int orientation_in(std::string_view tiff) {
  const bool big_endian = tiff.starts_with("MM\0\x2a"sv);
  if (!big_endian && !tiff.starts_with("II\x2a\0"sv)) return 1;
  const std::size_t folder = number_at(tiff, 4, 4, big_endian);
  const std::size_t entries = number_at(tiff, folder, 2, big_endian);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = folder + 2 + i * kEntryBytes;
    if (at + kEntryBytes > tiff.size()) break;
    if (number_at(tiff, at, 2, big_endian) != kOrientationTag || number_at(tiff, at + 2, 2, big_endian) != kShort)
      continue;
    const std::uint32_t found = number_at(tiff, at + 8, 2, big_endian);
    return found >= 1 && found <= 8 ? static_cast<int>(found) : 1;
  }
  return 1;
}

// The EXIF data of a JPEG file are in a segment before the pixels.
std::string_view exif_of_jpeg(std::string_view file) {
  constexpr std::uint32_t kApp1 = 0xe1;
  constexpr std::uint32_t kScan = 0xda;
  constexpr std::string_view kName = "Exif\0\0"sv;
  std::size_t at = 2;
  while (at + 4 <= file.size() && static_cast<unsigned char>(file[at]) == 0xff) {
    const std::uint32_t marker = number_at(file, at + 1, 1, true);
    if (marker == 0xff) {  // a byte between two segments
      ++at;
      continue;
    }
    const std::size_t length = number_at(file, at + 2, 2, true);
    if (marker == kScan || length < 2) break;
    const std::string_view segment = file.substr(at + 4, length - 2);
    if (marker == kApp1 && segment.starts_with(kName)) return segment.substr(kName.size());
    at += 2 + length;
  }
  return {};
}

// Those of a PNG file are in a chunk before or behind the pixels.
std::string_view exif_of_png(std::string_view file) {
  std::size_t at = 8;
  while (at + 12 <= file.size()) {
    const std::size_t length = number_at(file, at, 4, true);
    if (file.substr(at + 4, 4) == "eXIf") return file.substr(at + 8, length);
    at += 12 + length;
  }
  return {};
}

}  // namespace

int exif_orientation(std::string_view file) {
  if (file.starts_with("\xff\xd8"sv)) return orientation_in(exif_of_jpeg(file));
  if (file.starts_with("\x89PNG\r\n\x1a\n"sv)) return orientation_in(exif_of_png(file));
  return 1;
}

std::string upright(std::string_view square, int side, int channels, int orientation) {
  const auto length = static_cast<std::size_t>(side);
  const auto pixel = static_cast<std::size_t>(channels);
  VERIFY(square.size() == length * length * pixel);
  const bool transposed = orientation >= 5;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  std::string turned;
  turned.reserve(square.size());
  for (std::size_t y = 0; y < length; ++y) {
    for (std::size_t x = 0; x < length; ++x) {
      const std::size_t column = transposed ? y : x;
      const std::size_t row = transposed ? x : y;
      const std::size_t from =
          (from_below ? length - 1 - row : row) * length + (from_right ? length - 1 - column : column);
      turned += square.substr(from * pixel, pixel);
    }
  }
  return turned;
}

}  // namespace starling::dataset
