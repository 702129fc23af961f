// A coordinator of a few lines: real sockets and TLS on loopback, and replies that a test writes byte by byte.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "shared/crypto/certificates.h"
#include "shared/crypto/tls.h"
#include "shared/net/http_client.h"

namespace starling::testing {

// One project: its CA, and certificates from it that are valid now.
class Project {
 public:
  Project();
  [[nodiscard]] const crypto::CertificateAuthority& authority() const { return authority_; }
  [[nodiscard]] crypto::TlsIdentity coordinator() const;
  [[nodiscard]] crypto::TlsIdentity volunteer() const;
  [[nodiscard]] crypto::TlsContext client_tls(const std::optional<crypto::TlsIdentity>& identity = std::nullopt) const;

 private:
  crypto::CertificateAuthority authority_;
};

struct Reply {
  std::string bytes;
  bool then_close = false;    // in order
  bool then_hang = false;     // silent until the client goes away
  bool byte_by_byte = false;  // one every few milliseconds, until the client goes away
};
Reply ok_reply(const std::string& body, const std::string& more_fields = "");

// Serves one connection after the other, on a thread of its own.
class TestServer {
 public:
  // `answer` gets the head and body of each request. Called on the server's thread.
  using Answer = std::function<Reply(const std::string& request)>;
  TestServer(const Project& project, const crypto::TlsIdentity& identity, Answer answer);
  ~TestServer();

  [[nodiscard]] net::Endpoint endpoint() const { return {"127.0.0.1", port_}; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void run();
  void serve(int fd);

  crypto::TlsContext tls_;
  Answer answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace starling::testing
