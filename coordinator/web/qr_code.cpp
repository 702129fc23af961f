#include "coordinator/web/qr_code.h"

#include <fmt/format.h>
#include <qrencode.h>

#include <iterator>
#include <memory>

#include "coordinator/web/html.h"

namespace starling::web {
namespace {

constexpr int kMargin = 4;  // modules

struct FreeCode {
  void operator()(QRcode* code) const { QRcode_free(code); }
};

}  // namespace

std::string qr_code(std::string_view text, std::string_view label) {
  const std::unique_ptr<QRcode, FreeCode> code(QRcode_encodeData(static_cast<int>(text.size()),
                                                                 reinterpret_cast<const unsigned char*>(text.data()),
                                                                 0 /* the smallest that holds it */, QR_ECLEVEL_M));
  if (code == nullptr) return {};
  const int width = code->width;
  const auto is_dark = [&](int x, int y) { return x < width && (code->data[y * width + x] & 1) != 0; };
  std::string path;  // the dark runs of each row
  for (int y = 0; y < width; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!is_dark(x, y)) continue;
      const int begin = x;
      while (is_dark(x, y)) ++x;
      fmt::format_to(std::back_inserter(path), "M{} {}h{}v1h-{}z", begin + kMargin, y + kMargin, x - begin, x - begin);
    }
  }
  return fmt::format(
      "<svg class=\"qr\" viewBox=\"0 0 {0} {0}\" role=\"img\" aria-label=\"{1}\" shape-rendering=\"crispEdges\">"
      "<path fill=\"#fff\" d=\"M0 0h{0}v{0}H0z\"/><path d=\"{2}\"/></svg>\n",
      width + 2 * kMargin, escape(label), path);
}

}  // namespace starling::web
