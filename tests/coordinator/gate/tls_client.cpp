#include "tests/coordinator/gate/tls_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>

namespace starling::gate::testing {
namespace {

constexpr timeval kPatience{20, 0};  // a test that waits longer than this fails

crypto::CertificateAuthority create_authority() {
  ::signal(SIGPIPE, SIG_IGN);
  return crypto::CertificateAuthority::create("test", SystemClock().wall_now()).value();
}

}  // namespace

Project::Project() : authority(create_authority()) {}

crypto::TlsIdentity Project::member(const crypto::PrivateKey& key) const {
  return {authority.issue(crypto::make_csr(key), {.now = SystemClock().wall_now()}).value(), key};
}

crypto::TlsContext Project::server() const {
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  const crypto::ServerOptions options{.now = SystemClock().wall_now(), .hosts = {"127.0.0.1"}};
  const std::string certificate = authority.issue_server(key.public_key(), options).value();
  return crypto::TlsContext::coordinator_server(authority.certificate_pem(), {certificate, key}).value();
}

crypto::TlsContext Project::client(const std::optional<crypto::TlsIdentity>& identity) const {
  return crypto::TlsContext::coordinator_client(authority.certificate_pem(), identity).value();
}

RunningGate::RunningGate(const Project& project, const Router& router, GateOptions options) {
  options.address = "127.0.0.1";
  gate_ = Gate::create(options, project.server(), router).value();
  thread_ = std::thread([this] { VERIFY(gate_->run().ok()); });
}

RunningGate::~RunningGate() {
  gate_->stop();
  thread_.join();
}

Socket::Socket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  VERIFY(fd_ >= 0);
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Socket::connect(std::uint16_t port) const {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  VERIFY(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

bool Socket::send(std::string_view bytes) const {
  return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::string Socket::read_all() const {
  std::string all;
  char piece[4096];
  for (;;) {
    const ssize_t count = ::recv(fd_, piece, sizeof piece, 0);
    VERIFY(count >= 0 || errno != EAGAIN);  // out of patience
    if (count <= 0) return all;
    all.append(piece, static_cast<std::size_t>(count));
  }
}

void TlsClient::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsClient::TlsClient(std::uint16_t port, const crypto::TlsContext& context)
    : socket_(port), ssl_(SSL_new(context.native())) {
  SSL_set_fd(ssl_.get(), socket_.fd());
  connected_ = SSL_connect(ssl_.get()) == 1;
  ERR_clear_error();
}

TlsClient::TlsClient(TlsClient&&) noexcept = default;
TlsClient::~TlsClient() = default;

bool TlsClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t count = 0;
    if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count) != 1) {
      ERR_clear_error();
      return false;
    }
    bytes.remove_prefix(count);
  }
  return true;
}

bool TlsClient::read_more() {
  char piece[16384];
  std::size_t count = 0;
  const bool got = SSL_read_ex(ssl_.get(), piece, sizeof piece, &count) == 1;
  ERR_clear_error();
  if (got) buffer_.append(piece, count);
  return got;
}

Answer TlsClient::read_answer() {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return {};
  }
  Answer answer;
  answer.head = buffer_.substr(0, end + 2);
  answer.status = std::atoi(answer.head.c_str() + std::string_view("HTTP/1.1 ").size());
  const std::size_t field = answer.head.find("Content-Length: ");
  const std::size_t length =
      field == std::string::npos ? 0 : std::strtoul(answer.head.c_str() + field + 16, nullptr, 10);
  while (buffer_.size() < end + 4 + length) {
    if (!read_more()) return {};
  }
  answer.body = buffer_.substr(end + 4, length);
  buffer_.erase(0, end + 4 + length);
  return answer;
}

bool TlsClient::at_end() { return buffer_.empty() && !read_more(); }

Answer TlsClient::get(const std::string& path) {
  send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  return read_answer();
}

Answer TlsClient::post(const std::string& path, const std::string& body) {
  send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return read_answer();
}

}  // namespace starling::gate::testing
