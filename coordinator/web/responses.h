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

}  // namespace starling::web
