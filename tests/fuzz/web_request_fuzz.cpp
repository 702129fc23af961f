// A request as gate and pages parse it: its target, its origin, cookies, forms and typed text.
#include <array>
#include <string>
#include <vector>

#include "coordinator/accounts/ban_list.h"
#include "coordinator/accounts/credentials.h"
#include "coordinator/gate/address.h"
#include "coordinator/gate/forwarded.h"
#include "coordinator/gate/http_adapter.h"
#include "coordinator/web/certificate.h"
#include "coordinator/web/compression.h"
#include "coordinator/web/form.h"
#include "coordinator/web/html.h"
#include "shared/base/log.h"
#include "shared/names/display_name.h"
#include "shared/net/url.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

namespace {

const std::string kProxy = "192.0.2.1";
const std::vector<std::string> kProxies = {kProxy};
constexpr std::string_view kEcho = "X-Echo: ";

// Accepted text is accepted again, unchanged.
template <typename Check>
void check_settled(const Check& check, const std::string& typed) {
  if (const auto once = check(typed)) VERIFY(check(*once) && *check(*once) == *once);
}

void check_words(const web::Form& form) {
  check_settled(names::check_display_name, form.value("name"));
  check_settled(accounts::check_email, form.value("email"));
  check_settled(accounts::read_code, form.value("code"));
  (void)accounts::check_new_password(form.value("password"), form.value("name"), form.value("email"));
  (void)accounts::AddressRange::parse(form.value("who"));
  VERIFY(!web::read_certificate_code(form.value("certificate"), "nobody has told this"));
}

gate::Response echo(const gate::Request& request) {
  const web::Form form(request.body);
  check_words(form);
  (void)web::is_from_elsewhere(request);
  VERIFY(gate::parse_address(gate::caller_of(kProxy, request.headers, kProxies).address, 0).ok());
  VERIFY(request.suffix.find('/') == std::string::npos);
  const std::string text = web::escape(form.value("text") + request.path + request.suffix);
  VERIFY(text.find_first_of("<>\"'") == std::string::npos);
  VERIFY(web::url_decode(net::url_encode(text)) == text);
  gate::Response response;
  response.body = text;
  response.headers.emplace_back("X-Echo", web::cookie(request, "session") + std::string(request.parameter("name")));
  return web::takes_gzip(request) ? web::compressed(std::move(response)) : response;
}

// Echoed text must stay within one line of the head.
void check_reply(std::string_view bytes) {
  VERIFY(bytes.starts_with("HTTP/1.1 "));
  std::string_view head = bytes.substr(0, bytes.find("\r\n\r\n"));
  VERIFY(head.size() < bytes.size());
  constexpr std::array<std::string_view, 9> kOwn = {
      "HTTP/1.1 ",        "Accept-Ranges: bytes", "Allow: ",      "Connection: ", "Content-Encoding: gzip",
      "Content-Length: ", "Content-Type: ",       "Keep-Alive: ", "Vary: "};
  int echoes = 0;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    const auto begins = [line](std::string_view name) { return line.starts_with(name); };
    echoes += begins(kEcho) ? 1 : 0;
    VERIFY(begins(kEcho) || std::any_of(kOwn.begin(), kOwn.end(), begins));
  }
  VERIFY(echoes <= 1);
}

gate::Router routes() {
  LogOptions quiet;
  quiet.to_stderr = false;
  init_logging(quiet);
  gate::Router router;
  router.add("GET", "/", echo);
  router.add("POST", "/login", echo);
  router.add_prefix("GET", "/run/", echo);
  return router;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gate::GateLimits limits;
  static const gate::Router router = routes();
  static gate::HandlerFailures failures;
  static gate::HttpAdapter adapter(router, limits, failures);
  gate::RequestParser parser(limits);
  parser.feed(testing::text_of(data, size));
  if (parser.state() != gate::RequestParser::State::complete) return 0;
  check_reply(adapter.answer(parser.take(), {std::nullopt, kProxy}).bytes);
  return 0;
}
