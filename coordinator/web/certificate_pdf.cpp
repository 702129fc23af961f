#include "coordinator/web/certificate_pdf.h"

#include <cairo-pdf.h>
#include <librsvg/rsvg.h>

#include <memory>

namespace starling::web {
namespace {

// A landscape A4 page in points, with a margin that every printer can keep.
constexpr double kWidth = 841.89;
constexpr double kHeight = 595.28;
constexpr double kMargin = 14;

struct Unref {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* page) const { cairo_destroy(page); }
};

Error failed(GError* error) {
  Error told{ErrorCode::internal,
             "draw the certificate: " + std::string(error == nullptr ? "no reason is known" : error->message)};
  g_clear_error(&error);
  return told;
}

cairo_status_t append(void* to, const unsigned char* bytes, unsigned count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Result<std::string> pdf_of(std::string_view svg, const PdfTexts& texts) {
  GError* error = nullptr;
  const std::unique_ptr<RsvgHandle, Unref> picture(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (picture == nullptr) return failed(error);
  std::string pdf;
  const std::unique_ptr<cairo_surface_t, Unref> surface(
      cairo_pdf_surface_create_for_stream(append, &pdf, kWidth, kHeight));
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, texts.title.c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_KEYWORDS, texts.keywords.c_str());
  const std::unique_ptr<cairo_t, Unref> page(cairo_create(surface.get()));
  const RsvgRectangle inside{kMargin, kMargin, kWidth - 2 * kMargin, kHeight - 2 * kMargin};
  if (rsvg_handle_render_document(picture.get(), page.get(), &inside, &error) == FALSE) return failed(error);
  cairo_show_page(page.get());
  cairo_surface_finish(surface.get());
  if (cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS) return pdf;
  return Error{ErrorCode::internal,
               std::string("draw the certificate: ") + cairo_status_to_string(cairo_surface_status(surface.get()))};
}

}  // namespace starling::web
