#include "shared/web/web_client.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "shared/base/short_text.h"
#include "shared/crypto/authority.h"
#include "shared/crypto/digest.h"
#include "shared/net/artefact_file.h"
#include "shared/net/http_client.h"
#include "shared/web/exchange.h"

namespace starling::web {
namespace {

constexpr int kOk = 200;
constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;
constexpr std::size_t kShownMax = 100;  // bytes of an address in messages

// The CAs that browsers trust, where Linux systems keep them. A build that is copied to another system finds them
// there, too.
Result<Authorities> public_authorities() {
  constexpr std::array kBundles = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                   "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
  for (const char* bundle : kBundles) {
    if (::access(bundle, R_OK) == 0) return Authorities{bundle, {}};
  }
  return Error{ErrorCode::unavailable,
               "set up TLS: this system has no list of public certificate authorities; install ca-certificates"};
}

std::string url_of(const wire::WebAddress& address) {
  return "https://" + wire::format_host_and_port(address.host, address.port) + address.path;
}

class WholeBody final : public Receiver {
 public:
  explicit WholeBody(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  Status on_head(const Head& head) override {
    reply.status = head.status;
    if (head.length && static_cast<std::uint64_t>(*head.length) > bytes_max_) return too_long();
    return {};
  }
  Status on_body(std::string_view bytes) override {
    if (bytes.size() > bytes_max_ - reply.body.size()) return too_long();
    reply.body += bytes;
    return {};
  }
  WebReply reply;

 private:
  [[nodiscard]] Error too_long() const {
    return {ErrorCode::resource_exhausted,
            fmt::format("read reply: it is longer than the {} bytes allowed", bytes_max_)};
  }
  std::size_t bytes_max_;
};

// The body of a 200 or 206 goes to the file.
class FileBody final : public Receiver {
 public:
  FileBody(net::ArtefactFile& part, const WebFile& wanted) : part_(part), wanted_(wanted) {}

  Status on_head(const Head& head) override {
    const bool goes_on = head.status == kPartialContent && !head.encoded && head.range_start == part_.size();
    if (head.status != kOk && !goes_on) {
      const bool about_range = head.status == kPartialContent || head.status == kRangeNotSatisfiable;
      wants_whole = part_.size() > 0 && about_range;
      return error_of(head.status);
    }
    const std::int64_t begin = goes_on ? part_.size() : 0;
    if (head.length && !head.encoded && *head.length != wanted_.bytes - begin) return other_length();
    return goes_on ? Status() : part_.clear();
  }

  Status on_body(std::string_view bytes) override {
    if (static_cast<std::int64_t>(bytes.size()) > wanted_.bytes - part_.size()) {
      is_longer = true;
      return other_length();
    }
    STARLING_TRY(part_.append(bytes));
    if (wanted_.progress == nullptr || wanted_.progress(part_.size())) return {};
    return Error{ErrorCode::unavailable, "fetch: stopped on request"};
  }

  bool wants_whole = false;  // the server cannot go on where the part ends
  bool is_longer = false;    // more bytes came than the file has, so these are others

 private:
  static Error error_of(int status) {
    if (status < 200 || status >= 300) return body_of({status, {}}).error();
    return {ErrorCode::corrupt,
            fmt::format("fetch: the server answered with HTTP status {} instead of a file", status)};
  }
  [[nodiscard]] Error other_length() const {
    return {ErrorCode::corrupt,
            fmt::format("fetch: the server has another length than the {} bytes that were announced", wanted_.bytes)};
  }

  net::ArtefactFile& part_;
  const WebFile& wanted_;
};

}  // namespace

Result<std::string> body_of(WebReply reply) {
  if (reply.status >= 200 && reply.status < 300) return std::move(reply.body);
  return net::body_of({.status = reply.status, .content_type = {}, .body = {}});
}

class WebClient::Calls {
 public:
  Calls(WebOptions options, Authorities authorities)
      : options_(std::move(options)), exchange_(options_, std::move(authorities)) {}

  [[nodiscard]] const WebOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t wire_bytes() const { return exchange_.wire_bytes(); }
  void cancel() { exchange_.cancel(); }

  // Asks where the address leads to in the end.
  Result<Head> ask(const wire::WebAddress& address, std::int64_t range_start, const Patience& patience,
                   Receiver& receiver) {
    wire::WebAddress at = address;
    for (int redirects = 0; redirects <= kRedirectsMax; ++redirects) {
      const std::string url = url_of(at);
      const auto named = [&](const Error& error) {
        return redirects == 0 ? error : error.prefixed(fmt::format("sent on to '{}'", short_line(url, kShownMax)));
      };
      auto head = exchange_.run({url, range_start, redirects > 0}, patience, receiver);
      if (!head.ok()) return named(head.error());
      if (!head->is_redirect()) return head;
      auto next = follow(url, *head->location);
      if (!next.ok()) return named(next.error());
      at = std::move(*next);
    }
    return Error{ErrorCode::unavailable, fmt::format("it sends on more than {} times", kRedirectsMax)};
  }

 private:
  static Result<wire::WebAddress> follow(const std::string& url, const std::string& location) {
    STARLING_ASSIGN(const std::string next, resolve_location(url, location));
    auto address = wire::parse_web_address(next);
    if (address.ok() && next.size() <= kAddressBytesMax) return address;
    const std::string why = address.ok() ? "it is too long" : address.error().message;
    return Error{ErrorCode::permission_denied,
                 fmt::format("it sends on to '{}', which is not followed: {}", short_line(next, kShownMax), why)};
  }

  const WebOptions options_;
  Exchange exchange_;
};

WebClient::WebClient(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}
WebClient::~WebClient() = default;

Result<std::unique_ptr<WebClient>> WebClient::create(WebOptions options) {
  Authorities authorities;
  if (options.ca_pem.empty()) {
    STARLING_ASSIGN(authorities, public_authorities());
  } else {
    STARLING_ASSIGN(authorities.pem, crypto::read_authority(options.ca_pem));
  }
  return std::unique_ptr<WebClient>(new WebClient(std::make_unique<Calls>(std::move(options), std::move(authorities))));
}

Result<WebReply> WebClient::get(const wire::WebAddress& address) {
  const WebOptions& options = calls_->options();
  WholeBody receiver(options.reply_bytes_max);
  STARLING_TRY(calls_->ask(address, 0, {.deadline = net::monotonic_now() + options.deadline}, receiver).status());
  return std::move(receiver.reply);
}

Status WebClient::download(const WebFile& file) {
  if (const auto present = crypto::sha256_file(file.destination); present.ok() && *present == file.sha256) return {};
  STARLING_ASSIGN(net::ArtefactFile part, net::ArtefactFile::open(file.destination, file.bytes));
  const Patience patience{.stall = file.stall_timeout, .slow = file.slow_time};
  while (part.size() < file.bytes) {
    FileBody receiver(part, file);
    const auto head = calls_->ask(file.address, part.size(), patience, receiver);
    if (receiver.is_longer) {
      part.remove();
      return head.error();
    }
    if (receiver.wants_whole) {
      STARLING_TRY(part.clear());
      continue;
    }
    // A server may end a connection as it likes once all bytes are here.
    if (!head.ok() && (part.size() < file.bytes || head.error().code == ErrorCode::corrupt)) return head.error();
    if (part.size() == file.bytes || head->is_framed()) break;
    return Error{ErrorCode::unavailable,
                 fmt::format("fetch: the server closed the connection after {} of {} bytes", part.size(), file.bytes)};
  }
  return part.finish(file.sha256);
}

std::int64_t WebClient::wire_bytes() const { return calls_->wire_bytes(); }
void WebClient::cancel() { calls_->cancel(); }

}  // namespace starling::web
