#include "coordinator/web/responses.h"

#include <utility>

#include "coordinator/web/page.h"

namespace starling::web {

namespace {

gate::Response response_under(const std::string& policy, std::string_view content_type, std::string body) {
  gate::Response response;
  response.content_type = content_type;
  response.body = std::move(body);
  response.headers = {
      {"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}, {"Vary", "Accept-Encoding"}};
  if (content_type == kSvgType) response.headers.emplace_back("Content-Security-Policy", "default-src 'none'");
  if (content_type != kHtmlType) return response;
  response.headers.emplace_back("Content-Security-Policy", policy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return response;
}

}  // namespace

gate::Response response_of(std::string_view content_type, std::string body) {
  return response_under(page_policy(), content_type, std::move(body));
}

gate::Response page_with_charts(std::string html) { return response_under(chart_policy(), kHtmlType, std::move(html)); }

}  // namespace starling::web
