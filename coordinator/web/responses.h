// Pages and their twins as responses.
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

// With the headers that every public page has.
gate::Response response_of(std::string_view content_type, std::string body);
// The same of a page of framed() that says it has charts.
gate::Response page_with_charts(std::string html);

}  // namespace starling::web
