#include "coordinator/dataset/image.h"

#include <fmt/core.h>
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "coordinator/dataset/file_kind.h"
#include "coordinator/dataset/orientation.h"
#include "shared/base/files.h"

namespace starling::dataset {
namespace {

struct FreePixels {
  void operator()(unsigned char* pixels) const { stbi_image_free(pixels); }
};

Error bad(const std::filesystem::path& file, std::string_view why) {
  return {ErrorCode::corrupt, fmt::format("read the image '{}': {}", file.string(), why)};
}

// Why the bytes are no picture that is read.
std::string why_no_picture(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  const FileKind* const kind = kind_of_file(bytes);
  return kind == nullptr ? "it is no PNG or JPEG" : fmt::format("it is {}, and only PNG and JPEG are read", kind->name);
}

}  // namespace

Result<std::string> read_image(const std::filesystem::path& file, int channels, int side) {
  STARLING_ASSIGN(const std::string bytes, read_file(file, kImageBytesMax));
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto size = static_cast<int>(bytes.size());
  int width = 0;
  int height = 0;
  int found = 0;
  if (stbi_info_from_memory(data, size, &width, &height, &found) == 0) return bad(file, why_no_picture(bytes));
  if (width < 1 || height < 1 || width > kImagePixelsMax / height) {
    return bad(file, fmt::format("it is {} by {} pixels, and {} are the most", width, height, kImagePixelsMax));
  }
  const std::unique_ptr<unsigned char, FreePixels> pixels(
      stbi_load_from_memory(data, size, &width, &height, &found, channels));
  if (pixels == nullptr) {
    return bad(file, fmt::format("it is damaged, cut off or of a rare kind ({})", stbi_failure_reason()));
  }
  const int square = std::min(width, height);
  const int stride = width * channels;
  const auto* const corner =
      pixels.get() + static_cast<std::ptrdiff_t>((height - square) / 2) * stride + (width - square) / 2 * channels;
  const auto plane = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  std::string scaled(plane * static_cast<std::size_t>(channels), '\0');
  auto* const out = reinterpret_cast<unsigned char*>(scaled.data());
  if (stbir_resize_uint8(corner, square, square, stride, out, side, side, 0, channels) == 0) {
    return bad(file, "it cannot be scaled");
  }
  scaled = upright(scaled, side, channels, exif_orientation(bytes));
  std::string planes(scaled.size(), '\0');
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    const auto of = static_cast<std::size_t>(channels);
    planes[i % of * plane + i / of] = scaled[i];
  }
  return planes;
}

}  // namespace starling::dataset
