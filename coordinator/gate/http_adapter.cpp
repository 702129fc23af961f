#include "coordinator/gate/http_adapter.h"

#include <fcntl.h>
#include <httplib.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>

#include "coordinator/gate/text.h"
#include "shared/protocol/error_reply.h"

namespace starling::gate {
namespace {

// A stream that reads from the buffered request and collects the response. It has no socket.
class BufferedStream final : public httplib::Stream {
 public:
  explicit BufferedStream(std::string input) : input_(std::move(input)) {}

  bool is_readable() const override { return position_ < input_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, input_.size() - position_);
    std::copy_n(input_.data() + position_, count, to);
    position_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    output.append(from, size);
    return static_cast<ssize_t>(size);
  }
  // The library turns these into headers that look like a client's; the addresses are passed separately here.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }

  std::string output;

 private:
  std::string input_;
  std::size_t position_ = 0;
};

// Only the first line goes through the library: from a stranger's headers it would decode percent signs, compress, and
// cut ranges, none of which is wanted.
std::string first_line(const RawRequest& request) {
  std::string target = request.target;
  std::size_t mark = target.find('?');
  while (mark != std::string::npos && (mark = target.find('?', mark + 1)) != std::string::npos) {
    target.replace(mark, 1, "%3F");  // a question mark within the query is a plain character
  }
  return request.method + ' ' + target + " HTTP/1.1\r\n\r\n";
}

bool clean_headers(const Response& response) {
  const auto clean = [](const auto& header) {
    return !header.first.empty() && !has_control_characters(header.first) && !has_control_characters(header.second);
  };
  return !has_control_characters(response.content_type) &&
         std::all_of(response.headers.begin(), response.headers.end(), clean);
}

Response error_response(int status, ErrorCode code, const std::string& message) {
  Response response;
  response.status = status;
  response.body = wire::encode(wire::ErrorReply{std::string(to_string(code)), message});
  return response;
}

// Empty if the file is shorter than the response promises.
std::optional<FileSlice> open_slice(const FileBody& body) {
  const int fd = ::open(body.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return std::nullopt;
  FileSlice slice(fd, body.offset, body.length);
  struct stat info {};
  const bool holds = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && body.offset >= 0 && body.length >= 0 &&
                     body.offset <= info.st_size && body.length <= info.st_size - body.offset;
  if (!holds) return std::nullopt;
  return slice;
}

Response guarded(const gate::Handler& handler, const Request& request, LimitedLog& failures) {
  std::string why = "failed";
  try {
    return handler(request);
  } catch (const std::exception& failure) {
    why = failure.what();
  } catch (...) {
  }
  failures.error(SystemClock().now(), request.method + " " + request.path + ": " + why);
  return error_response(500, ErrorCode::internal, "the coordinator failed on this request; its log says why");
}

}  // namespace

class HttpAdapter::Server final : public httplib::Server {
 public:
  Server(const Router& router, const GateLimits& limits, HandlerFailures& failures)
      : router_(router), failures_(failures) {
    set_keep_alive_timeout(static_cast<time_t>(to_ms(limits.idle_deadline) / 1000));
    set_keep_alive_max_count(static_cast<std::size_t>(limits.requests_per_connection_max));
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      fill(response, route(request));
      return HandlerResponse::Handled;
    });
  }

  Reply answer(const RawRequest& request, const Caller& caller) {
    request_ = &request;
    caller_ = &caller;
    file_ = FileSlice();
    BufferedStream stream(first_line(request));
    process(*this, stream, !request.keep_alive);
    return {std::move(stream.output), std::move(file_), !request.keep_alive};
  }

 private:
  // Later versions of the library require the addresses of both ends. This is a template, so that either call may be
  // missing.
  template <typename Self>
  static void process(Self& self, BufferedStream& stream, bool close) {
    bool closed = false;
    if constexpr (requires { self.process_request(stream, "", 0, "", 0, close, closed, nullptr); }) {
      self.process_request(stream, "", 0, "", 0, close, closed, nullptr);
    } else {
      self.process_request(stream, close, closed, nullptr);
    }
  }

  Response route(const httplib::Request& parsed) {
    Request request;
    request.method = parsed.method == "HEAD" ? "GET" : parsed.method;
    request.path = parsed.path;
    request.query.assign(parsed.params.begin(), parsed.params.end());
    request.headers = request_->headers;
    request.body = request_->body;
    request.peer = caller_->peer;
    request.remote_address = caller_->address;
    std::string allowed;
    if (const gate::Handler* handler = router_.find(request, allowed)) {
      return guarded(*handler, request, failures_.thrown);
    }
    if (allowed.empty()) return error_response(404, ErrorCode::not_found, "there is nothing at this address");
    Response response = error_response(405, ErrorCode::unsupported, "this address takes " + allowed);
    response.headers.emplace_back("Allow", allowed);
    return response;
  }

  void fill(httplib::Response& out, Response response) {
    if (!clean_headers(response)) {
      failures_.headers.error(SystemClock().now(), "a handler's header holds control characters");
      response = error_response(500, ErrorCode::internal, "the coordinator failed on this request");
    }
    if (response.file) {
      if (std::optional<FileSlice> slice = open_slice(*response.file)) {
        out.set_header("Content-Length", std::to_string(response.file->length));
        out.set_header("Content-Type", response.content_type);
        if (request_->method != "HEAD") file_ = std::move(*slice);
      } else {
        failures_.files.error(SystemClock().now(), "'" + response.file->path.string() +
                                                       "' does not hold the bytes that are to be sent from it");
        response = error_response(500, ErrorCode::internal, "the coordinator can not read this file");
      }
    }
    out.status = response.status;
    for (const auto& [name, value] : response.headers) out.set_header(name, value);
    if (!response.file) out.set_content(response.body, response.content_type);
  }

  const Router& router_;
  HandlerFailures& failures_;
  const RawRequest* request_ = nullptr;  // belongs to the answer() in progress
  const Caller* caller_ = nullptr;
  FileSlice file_;
};

HttpAdapter::HttpAdapter(const Router& router, const GateLimits& limits, HandlerFailures& failures)
    : server_(std::make_unique<Server>(router, limits, failures)) {}

HttpAdapter::~HttpAdapter() = default;

Reply HttpAdapter::answer(const RawRequest& request, const Caller& caller) { return server_->answer(request, caller); }

}  // namespace starling::gate
