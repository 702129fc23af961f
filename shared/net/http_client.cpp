#include "shared/net/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "shared/crypto/digest.h"
#include "shared/net/artefact_file.h"
#include "shared/net/line.h"
#include "shared/net/response_head.h"
#include "shared/net/tls_stream.h"
#include "shared/protocol/error_reply.h"
#include "shared/wire/web_address.h"

namespace starling::net {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kPathBytesMax = 2048;
constexpr std::size_t kTokenBytesMax = 512;
constexpr int kOk = 200;
constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;

// Accepts visible characters only, so that the text cannot end the line it is put in.
bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

struct HttpRequest {
  std::string_view method;
  std::string_view path;
  std::string_view body;
  std::string_view content_type = "application/json";
  std::int64_t range_start = 0;  // above 0: only the bytes from there on
};

// Time limits of a request: all of it ends by `deadline` or, if `stall` is not zero, each wait takes at most `stall`.
struct Patience {
  TimePoint deadline;
  Duration stall{};
  [[nodiscard]] bool is_bulk() const { return stall > Duration::zero(); }
  [[nodiscard]] TimePoint until() const { return is_bulk() ? monotonic_now() + stall : deadline; }
};

// Receives a reply: first its head, then its body piece by piece.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual Status on_head(const ResponseHead& head) = 0;
  virtual Status on_body(std::string_view bytes) = 0;
};

class WholeBody final : public Receiver {
 public:
  explicit WholeBody(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  Status on_head(const ResponseHead& head) override {
    response.status = head.status;
    response.content_type = head.content_type;
    response.body.clear();
    response.headers = head.fields;
    if (static_cast<std::uint64_t>(head.content_length) <= bytes_max_) return {};
    return Error{ErrorCode::resource_exhausted,
                 fmt::format("read reply: {} bytes are more than the {} allowed", head.content_length, bytes_max_)};
  }
  Status on_body(std::string_view bytes) override {
    response.body += bytes;
    return {};
  }
  HttpResponse response;

 private:
  std::size_t bytes_max_;
};

// The body of a 200 or 206 goes to the file, that of any other reply to memory.
class FileBody final : public Receiver {
 public:
  FileBody(ArtefactFile& file, const Download& download, std::size_t bytes_max)
      : refusal(bytes_max), file_(file), download_(download) {}
  Status on_head(const ResponseHead& head) override {
    to_file_ = head.status == kOk || head.status == kPartialContent;
    if (!to_file_) return refusal.on_head(head);
    refusal.response.status = head.status;
    const bool whole = head.status == kOk;
    const std::int64_t begin = whole ? 0 : file_.size();
    const bool continues = whole || head.range_start == begin;
    if (continues && head.content_length == download_.bytes - begin) return whole ? file_.clear() : Status();
    return Error{ErrorCode::corrupt, fmt::format("download {}: the server has another length than the {} bytes that "
                                                 "were announced",
                                                 download_.path, download_.bytes)};
  }
  Status on_body(std::string_view bytes) override {
    if (!to_file_) return refusal.on_body(bytes);
    STARLING_TRY(file_.append(bytes));
    if (download_.progress == nullptr || download_.progress(file_.size())) return {};
    return Error{ErrorCode::unavailable, fmt::format("download {}: stopped on request", download_.path)};
  }
  WholeBody refusal;

 private:
  ArtefactFile& file_;
  const Download& download_;
  bool to_file_ = false;
};

ErrorCode code_for_status(int status) {
  switch (status) {
    case 401:
      return ErrorCode::unauthenticated;
    case 403:
      return ErrorCode::permission_denied;
    case 404:
    case 410:
      return ErrorCode::not_found;
    case 409:
      return ErrorCode::already_exists;
    case 412:
      return ErrorCode::failed_precondition;
    case 413:
    case 429:
    case 507:
      return ErrorCode::resource_exhausted;
    default:
      return status >= 500 ? ErrorCode::unavailable : ErrorCode::invalid_argument;
  }
}

ErrorCode code_named(std::string_view name, ErrorCode otherwise) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    if (to_string(static_cast<ErrorCode>(i)) == name) return static_cast<ErrorCode>(i);
  }
  return otherwise;
}

}  // namespace

Result<std::string> body_of(HttpResponse response) {
  if (response.status >= 200 && response.status < 300) return std::move(response.body);
  const ErrorCode code = code_for_status(response.status);
  if (const auto reply = wire::decode_error_reply(response.body); reply.ok()) {
    return Error{code_named(reply->code, code), reply->message};
  }
  return Error{code, fmt::format("the server answered with HTTP status {}", response.status)};
}

class HttpClient::Connection {
 public:
  Connection(Endpoint endpoint, crypto::TlsContext tls, HttpOptions options)
      : endpoint_(std::move(endpoint)), tls_(std::move(tls)), options_(std::move(options)) {}

  [[nodiscard]] std::size_t response_bytes_max() const { return options_.response_bytes_max; }
  void set_deadline(Duration deadline) { options_.deadline = deadline; }
  void set_token(std::string token) { token_ = std::move(token); }
  void cancel() { cancel_.set(); }
  [[nodiscard]] const std::string& server_address() const { return server_address_; }
  [[nodiscard]] std::int64_t wire_bytes() const {
    return closed_wire_bytes_ + (stream_ == nullptr ? 0 : stream_->wire_bytes());
  }

  // Returns the whole reply, within the options' limits.
  Result<HttpResponse> ask(const HttpRequest& request) {
    WholeBody receiver(options_.response_bytes_max);
    STARLING_TRY(exchange(request, {monotonic_now() + options_.deadline, Duration::zero()}, receiver));
    return std::move(receiver.response);
  }

  // Sends the request and passes the reply to `receiver`. A GET that finds its kept connection closed is sent once more
  // on a new one; the caller must judge other failures.
  Status exchange(const HttpRequest& request, const Patience& patience, Receiver& receiver) {
    if (!is_visible(request.path) || !request.path.starts_with('/') || request.path.size() > kPathBytesMax ||
        !is_visible(token_) || token_.size() > kTokenBytesMax) {
      return Error{ErrorCode::invalid_argument, "send request: the path or the token has characters it must not have"};
    }
    if (cancel_.is_set()) return Error{ErrorCode::unavailable, "send request: cancelled"};
    const bool kept = stream_ != nullptr && stream_->is_alive();
    if (!kept) close();
    Status status = try_exchange(request, patience, receiver);
    const bool closed_under_us = kept && !answered_ && !status.ok() && status.error().code == ErrorCode::unavailable;
    if (closed_under_us && request.method == "GET" && !cancel_.is_set()) {
      status = try_exchange(request, patience, receiver);
    }
    return status;
  }

 private:
  Status try_exchange(const HttpRequest& request, const Patience& patience, Receiver& receiver) {
    answered_ = false;
    Status status = exchange_once(request, patience, receiver);
    if (!status.ok()) close();  // the bytes left on it belong to a reply that nobody reads
    return status;
  }

  Status exchange_once(const HttpRequest& request, const Patience& patience, Receiver& receiver) {
    if (stream_ == nullptr) {
      STARLING_ASSIGN(stream_, TlsStream::connect(endpoint_, tls_, cancel_, patience.until(), options_.line));
      server_address_ = stream_->remote_address();
    }
    STARLING_TRY(stream_->write_all(request_text(request), patience.until()));
    std::string buffer;
    STARLING_ASSIGN(const ResponseHead head, read_head(buffer, patience));
    STARLING_TRY(receiver.on_head(head));
    STARLING_TRY(read_body(buffer, head.content_length, patience, receiver));
    if (!head.keep_alive) close();
    return {};
  }

  void close() {
    closed_wire_bytes_ = wire_bytes();
    stream_.reset();
  }

  [[nodiscard]] std::string request_text(const HttpRequest& request) const {
    std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, request.path,
                                   wire::format_host_and_port(endpoint_.host, endpoint_.port));
    if (!token_.empty()) text += fmt::format("Authorization: Bearer {}\r\n", token_);
    if (request.range_start > 0) text += fmt::format("Range: bytes={}-\r\n", request.range_start);
    if (request.method == "POST") {
      text += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", request.content_type, request.body.size());
    }
    text += "\r\n";
    text += request.body;  // one write, so one packet if it fits
    return text;
  }

  // Reads until the head is complete; `buffer` keeps the bytes that came after it.
  Result<ResponseHead> read_head(std::string& buffer, const Patience& patience) {
    constexpr std::string_view kHeadEnd = "\r\n\r\n";
    while (true) {
      STARLING_TRY(read_more(buffer, patience));
      const std::size_t end = buffer.find(kHeadEnd);
      if (end != std::string::npos) {
        auto head = parse_response_head(std::string_view(buffer).substr(0, end + kHeadEnd.size()));
        buffer.erase(0, end + kHeadEnd.size());
        return head;
      }
      if (buffer.size() > kResponseHeadBytesMax) return Error{ErrorCode::corrupt, "read reply: the head is too long"};
    }
  }

  Status read_body(std::string& buffer, std::int64_t left, const Patience& patience, Receiver& receiver) {
    while (true) {
      if (static_cast<std::int64_t>(buffer.size()) > left) {
        return Error{ErrorCode::corrupt, "read reply: it goes on after its end"};
      }
      left -= static_cast<std::int64_t>(buffer.size());
      if (!buffer.empty()) STARLING_TRY(receiver.on_body(buffer));
      if (left == 0) return {};
      buffer.clear();
      STARLING_TRY(read_more(buffer, patience));
    }
  }

  Status read_more(std::string& buffer, const Patience& patience) {
    std::size_t wanted = chunk_.size();
    if (patience.is_bulk()) {
      STARLING_ASSIGN(wanted, stream_->await_turn(wanted));
    }
    STARLING_ASSIGN(const std::size_t size, stream_->read_some(std::span(chunk_).first(wanted), patience.until()));
    if (size == 0) return Error{ErrorCode::unavailable, "receive: the server closed the connection"};
    answered_ = true;
    buffer.append(chunk_.data(), size);
    return {};
  }

  Endpoint endpoint_;
  crypto::TlsContext tls_;
  HttpOptions options_;
  std::string token_;
  CancelEvent cancel_;
  std::unique_ptr<TlsStream> stream_;   // kept between requests
  std::string server_address_;          // address of the newest stream
  std::int64_t closed_wire_bytes_ = 0;  // bytes of the streams before it
  bool answered_ = false;               // some byte of a reply has come
  std::vector<char> chunk_ = std::vector<char>(kReadBytes);
};

HttpClient::HttpClient(Endpoint endpoint, crypto::TlsContext tls, HttpOptions options)
    : connection_(std::make_unique<Connection>(std::move(endpoint), std::move(tls), std::move(options))) {}
HttpClient::~HttpClient() = default;

void HttpClient::set_deadline(Duration deadline) { connection_->set_deadline(deadline); }
void HttpClient::set_token(std::string token) { connection_->set_token(std::move(token)); }
void HttpClient::cancel() { connection_->cancel(); }
std::string HttpClient::server_address() const { return connection_->server_address(); }
std::int64_t HttpClient::wire_bytes() const { return connection_->wire_bytes(); }

Result<HttpResponse> HttpClient::get(const std::string& path) {
  return connection_->ask({.method = "GET", .path = path, .body = ""});
}

Result<HttpResponse> HttpClient::post_json(const std::string& path, const std::string& body) {
  return connection_->ask({.method = "POST", .path = path, .body = body});
}

Result<HttpResponse> HttpClient::post_bytes(const std::string& path, std::string_view body) {
  return connection_->ask({.method = "POST", .path = path, .body = body, .content_type = "application/octet-stream"});
}

Status HttpClient::download_artefact(const Download& download) {
  if (const auto present = crypto::sha256_file(download.destination); present.ok() && *present == download.sha256) {
    return {};
  }
  STARLING_ASSIGN(ArtefactFile file, ArtefactFile::open(download.destination, download.bytes));
  if (file.size() < download.bytes) {
    FileBody receiver(file, download, connection_->response_bytes_max());
    const HttpRequest request{.method = "GET", .path = download.path, .body = "", .range_start = file.size()};
    STARLING_TRY(connection_->exchange(request, {.deadline = kNever, .stall = download.stall_timeout}, receiver));
    const int status = receiver.refusal.response.status;
    if (status == kRangeNotSatisfiable) STARLING_TRY(file.clear());  // the next try starts from nothing
    STARLING_TRY(body_of(std::move(receiver.refusal.response)).status());
  }
  return file.finish(download.sha256);
}

Result<std::string> fetch_pinned_ca(const Endpoint& endpoint, const Digest& ca_fingerprint,
                                    const HttpOptions& options) {
  STARLING_ASSIGN(const crypto::TlsContext tls, crypto::TlsContext::first_contact());
  const CancelEvent never;
  STARLING_ASSIGN(const auto stream,
                  TlsStream::connect(endpoint, tls, never, monotonic_now() + options.deadline, options.line));
  return crypto::ca_from_chain(stream->native(), ca_fingerprint);
}

}  // namespace starling::net
