#include "coordinator/web/private_pages.h"

#include <fmt/core.h>

#include "coordinator/accounts/sessions.h"
#include "coordinator/web/page.h"
#include "coordinator/web/responses.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/secrets.h"

namespace starling::web {

gate::Response private_response(std::string body, const char* content_type) {
  gate::Response response;
  response.content_type = content_type;
  response.body = std::move(body);
  response.headers = {{"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-store"},
                      {"Content-Security-Policy", page_policy()},
                      {"Referrer-Policy", "no-referrer"}};
  return response;
}

gate::Response redirect(std::string to) {
  gate::Response response = private_response("", kHtmlType);
  response.status = 303;
  response.headers.emplace_back("Location", std::move(to));
  return response;
}

void set_cookie(gate::Response& response, const char* name, std::string_view value, std::int64_t seconds) {
  response.headers.emplace_back(
      "Set-Cookie", fmt::format("{}={}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={}", name, value, seconds));
}

VisitorCookie visitor_cookie(const gate::Request& request, std::string_view name) {
  VisitorCookie visitor{cookie(request, name), false};
  if (!Digest::from_hex(visitor.value).ok()) visitor = {crypto::make_token(), true};
  return visitor;
}

bool is_own_form(const gate::Request& request, const Form& form, std::string_view cookie) {
  const std::string token = form.value("form");
  return crypto::constant_time_equal(crypto::as_bytes(token), crypto::as_bytes(accounts::form_token(cookie))) &&
         !is_from_elsewhere(request);
}

Error not_own_form() {
  return {ErrorCode::permission_denied,
          "this form was not made for this browser, or is too old; open the page again. The browser must allow "
          "cookies"};
}

int status_of(const Status& why) {
  switch (why.error().code) {
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied:
      return 403;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::already_exists:
      return 409;
    case ErrorCode::resource_exhausted:
      return 429;
    case ErrorCode::io:
    case ErrorCode::internal:
    case ErrorCode::corrupt:
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      return 503;
    default:
      return 400;
  }
}

std::string sentence_of(const Status& why, TimePoint now, LimitedLog& failures) {
  if (why.ok()) return "";
  std::string text = why.error().message;
  if (status_of(why) == 503) {
    failures.warning(now, "private pages: " + text);
    text = "this can not be done at the moment; please try again later";
  }
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text + ".";
}

}  // namespace starling::web
