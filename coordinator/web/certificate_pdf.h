// A certificate as a PDF file for printing.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::web {

struct PdfTexts {
  std::string title;
  std::string keywords;  // the certificate's code, for programs that look for it
};
// A landscape A4 page with the picture in its middle. The fonts are this machine's and are embedded. Takes some tens of
// milliseconds. Error internal: the text is not valid SVG.
Result<std::string> pdf_of(std::string_view svg, const PdfTexts& texts);

}  // namespace starling::web
