// Public pages, and the same figures for programs, as responses.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/gate/router.h"

namespace starling::web {

constexpr const char* kHtmlType = "text/html; charset=utf-8";
constexpr const char* kJsonType = "application/json";
constexpr const char* kCsvType = "text/csv; charset=utf-8";
constexpr const char* kSvgType = "image/svg+xml";
constexpr const char* kPdfType = "application/pdf";

// A response with the headers that every public page has.
gate::Response response_of(std::string_view content_type, std::string body);
// A response with a page of framed() that has charts.
gate::Response page_with_charts(std::string html);

}  // namespace starling::web
