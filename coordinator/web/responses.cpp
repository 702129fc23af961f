#include "coordinator/web/responses.h"

#include "coordinator/web/page.h"

namespace starling::web {

gate::Response response_of(std::string_view content_type, std::string body) {
  gate::Response response;
  response.content_type = content_type;
  response.body = std::move(body);
  response.headers = {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}};
  if (content_type == kSvgType) response.headers.emplace_back("Content-Security-Policy", "default-src 'none'");
  if (content_type != kHtmlType) return response;
  response.headers.emplace_back("Content-Security-Policy", page_policy());
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return response;
}

}  // namespace starling::web
