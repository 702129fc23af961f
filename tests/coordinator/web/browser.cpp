#include "tests/coordinator/web/browser.h"

#include <doctest/doctest.h>

#include "coordinator/web/html.h"
#include "shared/net/url.h"

namespace starling::web::testing {

std::string Letters::token() const {
  if (letters.empty()) return "";
  const std::string& text = letters.back().text;
  const std::size_t at = text.find("token=");
  return at == std::string::npos ? "" : text.substr(at + 6, 64);
}

Pages::Pages(accounts::Policy policy)
    : database(db::Database::open(folder / "test.db", {.create = true, .ballast_bytes = 0}).value()),
      bans(stores().operation.bans, clock),
      people({"Poems",
              "https://poems.example",
              policy,
              stores(),
              bans,
              letters,
              clock,
              "a secret of the test's",
              {.hash_log2_n = 8}}),
      site({people, [](const std::string& code) { return "starling://poems.example:7300/?ca=00&invite=" + code; }}) {
  site.add_routes(router);
}

gate::Response Browser::answer(gate::Request request) {
  std::string jar;
  for (const auto& [name, value] : cookies) jar += (jar.empty() ? "" : "; ") + name + "=" + value;
  if (!jar.empty()) request.headers.emplace_back("Cookie", jar);
  request.headers.emplace_back("Host", "poems.example");
  request.remote_address = address_;
  std::string allowed;
  const gate::Handler* handler = router_.find(request, allowed);
  if (handler == nullptr) return {.status = 404};
  gate::Response response = (*handler)(request);
  for (const auto& [name, value] : response.headers) {
    if (name != "Set-Cookie") continue;
    CHECK(value.find("; Path=/; Secure; HttpOnly; SameSite=Strict") != std::string::npos);
    const std::size_t equals = value.find('=');
    const std::string content = value.substr(equals + 1, value.find(';') - equals - 1);
    if (content.empty()) {
      cookies.erase(value.substr(0, equals));
    } else {
      cookies[value.substr(0, equals)] = content;
    }
  }
  return response;
}

gate::Response Browser::get(const std::string& path, const Fields& query) {
  gate::Request request;
  request.method = "GET";
  request.path = path;
  request.query = query;
  return answer(std::move(request));
}

gate::Response Browser::send(const std::string& path, const Fields& fields, const Fields& headers) {
  gate::Request request;
  request.method = "POST";
  request.path = path;
  request.headers = headers;
  for (const auto& [name, value] : fields) {
    request.body += (request.body.empty() ? "" : "&") + net::url_encode(name) + "=" + net::url_encode(value);
  }
  return answer(std::move(request));
}

gate::Response Browser::post(const std::string& path, const Fields& fields, const std::string& form_at) {
  Fields all = {{"form", token_on(get(form_at))}};
  all.insert(all.end(), fields.begin(), fields.end());
  return send(path, all);
}

gate::Response Browser::sign_up(const std::string& name, const std::string& email, const std::string& invite) {
  return post("/signup", {{"name", name}, {"email", email}, {"password", kPassword}, {"invite", invite}}, "/signup");
}

gate::Response Browser::log_in(const std::string& name, const std::string& password) {
  return post("/login", {{"name", name}, {"password", password}}, "/login");
}

gate::Response get_from(const gate::Router& router, const std::string& path, const Fields& query) {
  gate::Request request;
  request.method = "GET";
  request.path = path;
  request.query = query;
  std::string allowed;
  return (*router.find(request, allowed))(request);
}

std::string header_of(const gate::Response& response, const std::string& name) {
  for (const auto& [header, value] : response.headers) {
    if (header == name) return value;
  }
  return "";
}

bool has(const gate::Response& response, const std::string& text) {
  return response.body.find(text) != std::string::npos;
}

std::string token_on(const gate::Response& page) {
  const std::string mark = "name=\"form\" value=\"";
  const std::size_t at = page.body.find(mark);
  return at == std::string::npos ? "" : page.body.substr(at + mark.size(), 32);
}

}  // namespace starling::web::testing
