#include "tests/shared/net/test_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "shared/crypto/tls_session.h"

namespace starling::testing {
namespace {

constexpr std::size_t kRequestBytesMax = 1 << 20;

using crypto::TlsSession;
using State = TlsSession::State;

// Head and body of the next request; empty when the client has gone.
std::string read_request(TlsSession& session) {
  constexpr std::string_view kLength = "Content-Length: ";
  std::string text;
  char chunk[4096];
  while (text.size() < kRequestBytesMax) {
    if (const std::size_t end = text.find("\r\n\r\n"); end != std::string::npos) {
      const std::size_t length = text.find(kLength);
      const std::size_t body = length == std::string::npos ? 0 : std::stoul(text.substr(length + kLength.size()));
      if (text.size() >= end + 4 + body) return text;
    }
    const TlsSession::Step step = session.read(chunk);
    if (step.state != State::done) return {};
    text.append(chunk, step.size);
  }
  return {};
}

// Whether the client closes the connection within that time.
bool gone_within(int fd, int timeout_ms) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, timeout_ms) > 0;
}

void send_all(TlsSession& session, std::string_view bytes) {
  while (!bytes.empty()) {
    const TlsSession::Step step = session.write(bytes);
    if (step.state != State::done) return;
    bytes.remove_prefix(step.size);
  }
}

void send_slowly(TlsSession& session, int fd, std::string_view bytes) {
  constexpr int kPauseMs = 5;
  while (!bytes.empty() && !gone_within(fd, kPauseMs)) {
    if (session.write(bytes.substr(0, 1)).state != State::done) return;
    bytes.remove_prefix(1);
  }
}

}  // namespace

Project::Project() : authority_(*crypto::CertificateAuthority::create("Test", SystemClock().wall_now())) {
  std::signal(SIGPIPE, SIG_IGN);
}

crypto::TlsIdentity Project::coordinator() const {
  const auto key = crypto::PrivateKey::generate();
  return {*authority_.issue_server(key.public_key(), {.now = SystemClock().wall_now(), .hosts = {}}), key};
}

crypto::TlsIdentity Project::volunteer() const {
  const auto key = crypto::PrivateKey::generate();
  return {*authority_.issue(crypto::make_csr(key), {.now = SystemClock().wall_now()}), key};
}

crypto::TlsContext Project::client_tls(const std::optional<crypto::TlsIdentity>& identity) const {
  return *crypto::TlsContext::coordinator_client(authority_.certificate_pem(), identity);
}

Reply ok_reply(const std::string& body, const std::string& more_fields) {
  return {.bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + more_fields +
                   "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
}

TestServer::TestServer(const Project& project, const crypto::TlsIdentity& identity, Answer answer)
    : tls_(*crypto::TlsContext::coordinator_server(project.authority().certificate_pem(), identity)),
      answer_(std::move(answer)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(listener_, 8) == 0);
  REQUIRE(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

TestServer::~TestServer() {
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

void TestServer::run() {
  while (!stopping_) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    serve(fd);
    close(fd);
  }
}

void TestServer::serve(int fd) {
  TlsSession session = TlsSession::server(tls_, fd);
  if (session.handshake().state != State::done) return;
  while (true) {
    const std::string request = read_request(session);
    if (request.empty()) return;
    const Reply reply = answer_(request);
    if (reply.byte_by_byte) {
      send_slowly(session, fd, reply.bytes);
    } else {
      send_all(session, reply.bytes);
    }
    if (reply.then_hang) gone_within(fd, -1);
    if (reply.then_hang || reply.then_close) {
      session.close();
      return;
    }
  }
}

}  // namespace starling::testing
