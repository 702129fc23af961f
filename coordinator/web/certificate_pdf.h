// A certificate for printing.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::web {

struct PdfTexts {
  std::string title;
  std::string keywords;  // for programs that look for them: the certificate's code
};
// A page of A4 across with that picture in its middle. The letters are this machine's, and travel with it. Some tens of
// milliseconds. internal: the SVG is none.
Result<std::string> pdf_of(std::string_view svg, const PdfTexts& texts);

}  // namespace starling::web
