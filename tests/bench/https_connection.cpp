#include "tests/bench/https_connection.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "shared/base/verify.h"
#include "shared/net/response_head.h"
#include "shared/protocol/limits.h"

namespace starling::bench {
namespace {

using State = crypto::TlsSession::State;

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr int kOk = 200;

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  VERIFY(bool(fd));
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  // The connection's success or failure shows when the handshake writes.
  (void)::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return fd;
}

}  // namespace

HttpsConnection::HttpsConnection(EventLoop& loop, std::uint16_t port, const crypto::TlsContext& tls)
    : loop_(loop), socket_(connect_to(port)), tls_(crypto::TlsSession::client(tls, socket_.get())) {
  loop_.watch(socket_.get(), [this] { advance(); });
}

HttpsConnection::~HttpsConnection() {
  tls_.close();
  loop_.drop(socket_.get());
}

void HttpsConnection::post(const std::string& path, const std::string& body, Done done) {
  send(fmt::format("POST {} HTTP/1.1\r\nHost: coordinator\r\nContent-Type: application/json\r\n"
                   "Content-Length: {}\r\n\r\n{}",
                   path, body.size(), body),
       std::move(done));
}

void HttpsConnection::send(std::string request, Done done) {
  VERIFY(done_ == nullptr);
  if (over_) {
    loop_.post([done = std::move(done)] { done(Error{ErrorCode::unavailable, "the connection has ended"}); });
    return;
  }
  out_ = std::move(request);
  sent_ = 0;
  in_.clear();
  done_ = std::move(done);
  if (ready_) advance();
}

void HttpsConnection::add(std::string_view bytes) {
  if (done_ == nullptr) return;
  out_ += bytes;
  if (ready_) advance();
}

HttpsConnection::Step HttpsConnection::step() {
  if (!ready_) {
    Step step = tls_.handshake();
    ready_ = step.state == State::done;
    return step;
  }
  if (sent_ < out_.size()) {
    Step step = tls_.write(std::string_view(out_).substr(sent_));
    sent_ += step.size;
    return step;
  }
  return receive();
}

HttpsConnection::Step HttpsConnection::receive() {
  std::array<char, kReadBytes> buffer;
  Step step = tls_.read(buffer);
  in_.append(buffer.data(), step.size);
  return step;
}

void HttpsConnection::advance() {
  for (;;) {
    const Step step = this->step();
    if (step.state == State::want_read || step.state == State::want_write) {
      const bool writes = step.state == State::want_write;
      if (std::exchange(writes_, writes) != writes) loop_.want(socket_.get(), writes);
      return;
    }
    if (step.state == State::failed || step.state == State::closed) {
      over_ = true;
      loop_.drop(socket_.get());
      return end(step.state == State::failed ? step.error : Error{ErrorCode::unavailable, "the coordinator hung up"});
    }
    const std::size_t head_end = in_.find("\r\n\r\n");
    if (head_end == std::string::npos) continue;
    const auto head = net::parse_response_head(std::string_view(in_).substr(0, head_end + 4));
    if (!head.ok()) return end(head.error());
    const auto length = static_cast<std::size_t>(head->content_length);
    if (length > wire::kReplyBytesMax) return end(Error{ErrorCode::resource_exhausted, "the reply is too long"});
    if (in_.size() < head_end + 4 + length) continue;
    std::string body = in_.substr(head_end + 4);
    if (head->status != kOk) return end(Error{ErrorCode::unavailable, fmt::format("{}: {}", head->status, body)});
    return end(std::move(body));
  }
}

void HttpsConnection::end(Result<std::string> result) {
  if (done_ == nullptr) return;  // it ended while idle: the next post reports that
  in_.clear();
  std::exchange(done_, nullptr)(std::move(result));  // must be the last statement: `this` may be destroyed
}

}  // namespace starling::bench
