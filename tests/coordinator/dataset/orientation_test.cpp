#include "coordinator/dataset/orientation.h"

#include <doctest/doctest.h>
#include <stb/stb_image_write.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "coordinator/dataset/image.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::dataset;
using namespace std::string_literals;

namespace {

std::string number(std::uint32_t value, std::size_t bytes, bool big_endian) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * (big_endian ? bytes - 1 - i : i)));
  }
  return text;
}

// EXIF data with another field before the orientation.
std::string exif_of(std::uint32_t orientation, bool big_endian) {
  const auto put = [big_endian](std::uint32_t value, std::size_t bytes) { return number(value, bytes, big_endian); };
  std::string tiff = (big_endian ? "MM" : "II") + put(42, 2) + put(8, 4) + put(2, 2);
  tiff += put(0x0100, 2) + put(4, 2) + put(1, 4) + put(48, 4);
  tiff += put(0x0112, 2) + put(3, 2) + put(1, 4) + put(orientation, 2) + put(0, 2);
  return tiff + put(0, 4);
}

std::string jpeg_segment(char marker, const std::string& content) {
  return "\xff"s + marker + number(static_cast<std::uint32_t>(content.size() + 2), 2, true) + content;
}

std::string jpeg_with(const std::string& jpeg, const std::string& tiff) {
  return jpeg.substr(0, 2) + jpeg_segment('\xe1', "http://ns.adobe.com/xap/1.0/\0<x/>"s) +
         jpeg_segment('\xe1', "Exif\0\0"s + tiff) + jpeg.substr(2);
}

std::string png_with(const std::string& png, const std::string& tiff) {
  constexpr std::size_t kBehindHead = 33;
  return png.substr(0, kBehindHead) + number(static_cast<std::uint32_t>(tiff.size()), 4, true) + "eXIf" + tiff +
         "CRC." + png.substr(kBehindHead);
}

// A picture of 16 by 16 pixels in four quarters: black, dark, bright and white, from the left above to the right below.
std::string quarters(const testing::TempDir& folder, const std::string& name) {
  std::vector<unsigned char> pixels;
  constexpr std::array<unsigned char, 4> kGreys = {0, 80, 160, 240};
  for (unsigned y = 0; y < 16; ++y) {
    for (unsigned x = 0; x < 16; ++x) pixels.push_back(kGreys.at(y / 8 * 2 + x / 8));
  }
  const auto file = folder / name;
  const bool png = name.ends_with(".png");
  REQUIRE((png ? stbi_write_png(file.c_str(), 16, 16, 1, pixels.data(), 16)
               : stbi_write_jpg(file.c_str(), 16, 16, 1, pixels.data(), 100)) != 0);
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The quarters of a picture as it stands upright, as their places among the greys.
std::string seen(const testing::TempDir& folder, const std::string& bytes) {
  std::ofstream(folder / "seen", std::ios::binary) << bytes;
  const auto image = read_image(folder / "seen", 1, 2);
  REQUIRE_MESSAGE(image.ok(), image.error().message);
  std::string places;
  for (const char grey : *image) places += static_cast<char>('0' + (static_cast<unsigned char>(grey) + 40) / 80);
  return places;
}

// The four quarters 01/23 as they are seen in each orientation, by the definition of EXIF: the places of row 0 and
// column 0.
constexpr std::array<const char*, 9> kUpright = {"0123", "0123", "1032", "3210", "2301",
                                                 "0213", "2031", "3120", "1302"};

}  // namespace

TEST_CASE("photographs of all eight orientations stand upright") {
  const testing::TempDir folder;
  const std::string jpeg = quarters(folder, "a.jpg");
  const std::string png = quarters(folder, "a.png");
  CHECK(seen(folder, jpeg) == "0123");
  for (std::uint32_t orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    for (const bool big_endian : {false, true}) {
      const std::string exif = exif_of(orientation, big_endian);
      CHECK(seen(folder, jpeg_with(jpeg, exif)) == kUpright.at(orientation));
      CHECK(seen(folder, png_with(png, exif)) == kUpright.at(orientation));
    }
  }
}

TEST_CASE("colours are turned with their pixels") {
  const std::string square = "abcABC123xyz";  // two rows of two pixels
  CHECK(upright(square, 2, 3, 1) == square);
  CHECK(upright(square, 2, 3, 6) == "123abcxyzABC");
}

TEST_CASE("EXIF data that are damaged, or say nothing that is known, change nothing") {
  const testing::TempDir folder;
  const std::string jpeg = quarters(folder, "a.jpg");
  CHECK(exif_orientation(jpeg) == 1);
  CHECK(exif_orientation("") == 1);
  CHECK(exif_orientation("\xff\xd8") == 1);
  for (const std::uint32_t orientation : {0U, 9U, 65535U}) {
    CHECK(exif_orientation(jpeg_with(jpeg, exif_of(orientation, true))) == 1);
  }
  const std::string exif = exif_of(6, false);
  CHECK(exif_orientation(jpeg_with(jpeg, exif)) == 6);
  for (std::size_t length = 0; length < exif.size(); ++length) {
    const int found = exif_orientation(jpeg_with(jpeg, exif.substr(0, length)));
    CHECK((found == 1 || found == 6));
  }
  std::string far_away = exif;
  far_away.replace(4, 4, "\xff\xff\xff\xff");
  CHECK(exif_orientation(jpeg_with(jpeg, far_away)) == 1);
  const std::string whole = jpeg_with(jpeg, exif);
  for (std::size_t length = 0; length < 140; ++length) {
    const int found = exif_orientation(std::string_view(whole).substr(0, length));
    CHECK((found == 1 || found == 6));
  }
}
