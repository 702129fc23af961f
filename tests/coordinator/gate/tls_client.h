// A blocking TLS client that sends exactly the bytes a test gives it, and a project for it to be a member of.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "coordinator/gate/gate.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/tls.h"

namespace starling::gate::testing {

// A CA with its coordinator's identity.
struct Project {
  Project();
  [[nodiscard]] crypto::TlsIdentity member(const crypto::PrivateKey& key) const;
  [[nodiscard]] crypto::TlsContext server() const;
  [[nodiscard]] crypto::TlsContext client(const std::optional<crypto::TlsIdentity>& identity = {}) const;

  crypto::CertificateAuthority authority;
};

// A gate that serves on loopback during this object's lifetime.
class RunningGate {
 public:
  RunningGate(const Project& project, const Router& router, GateOptions options = {});
  ~RunningGate();
  Gate& operator*() const { return *gate_; }
  Gate* operator->() const { return gate_.get(); }

 private:
  std::unique_ptr<Gate> gate_;
  std::thread thread_;
};

// A plain TCP connection to loopback.
class Socket {
 public:
  Socket();
  explicit Socket(std::uint16_t port) : Socket() { connect(port); }
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;
  ~Socket();
  void connect(std::uint16_t port) const;
  bool send(std::string_view bytes) const;
  // Reads until the other end has closed; returns "" at once if it has closed already.
  [[nodiscard]] std::string read_all() const;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

struct Answer {
  int status = 0;  // 0: the connection ended instead
  std::string head;
  std::string body;
  [[nodiscard]] bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

class TlsClient {
 public:
  TlsClient(std::uint16_t port, const crypto::TlsContext& context);
  TlsClient(TlsClient&&) noexcept;
  ~TlsClient();

  [[nodiscard]] bool connected() const { return connected_; }
  bool send(std::string_view bytes);
  Answer read_answer();
  // Whether the other end closes without sending a further byte.
  bool at_end();
  Answer get(const std::string& path);
  Answer post(const std::string& path, const std::string& body);
  [[nodiscard]] const Socket& socket() const { return socket_; }

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  bool read_more();

  Socket socket_;
  std::unique_ptr<ssl_st, Free> ssl_;
  bool connected_ = false;
  std::string buffer_;
};

}  // namespace starling::gate::testing
