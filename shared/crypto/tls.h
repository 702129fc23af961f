// TLS 1.3 as the project uses it: one CA, no resumption (a revoked peer could come back with a ticket).
//
// Facts that bind callers:
// - A client's handshake *succeeds* even when the server refuses its certificate; the refusal comes with the
//   first read. A peer is up when its hello arrived, not before.
// - The peer port proves "a member of this project". Which member is peer_id_of, and the caller compares it
//   with the plan: a valid certificate of another member is refused.
// - OpenSSL writes to closed sockets: every program ignores SIGPIPE.
// - A certificate cannot be exchanged in a context: make a new context when it is renewed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"

struct ssl_ctx_st;
struct ssl_st;

namespace starling::crypto {

// A certificate and the key it certifies.
struct TlsIdentity {
  std::string certificate_pem;
  PrivateKey key;
};

// For browsers, which know no Ed25519: a certificate chain and its key of another kind (ECDSA or RSA), from a
// public CA or made by make_web_identity.
struct WebIdentity {
  std::string chain_pem;
  std::string key_pem;
};
// Self-signed (browsers warn), ECDSA P-256, for the kServerCertificateLifetime.
Result<WebIdentity> make_web_identity(const std::vector<std::string>& hosts, WallTime now);

// Copies share the native context, which is not changed after its creation. Safe from several threads.
class TlsContext {
 public:
  // The coordinator's port. A client certificate is asked for and, when one comes, must be of this CA and
  // in date; a client without one is let in (peer_id_of then says unauthenticated). The CA's certificate is
  // sent along, for those who know only its fingerprint. Volunteers always see `identity`; browsers see `web`.
  static Result<TlsContext> coordinator_server(std::string_view ca_pem, const TlsIdentity& identity,
                                               const std::optional<WebIdentity>& web = std::nullopt);
  // A volunteer's link to the coordinator: of this CA, and carrying kCoordinatorName.
  static Result<TlsContext> coordinator_client(std::string_view ca_pem, const std::optional<TlsIdentity>& identity);
  // Between volunteers, accepting and dialling alike: both must show a certificate of this CA.
  static Result<TlsContext> peer(std::string_view ca_pem, const TlsIdentity& identity);
  // To a web server at `host`, by name or address: of a public CA that this system trusts, or, where `ca_pem` is given,
  // of that one alone. unavailable when this system has no list of CAs.
  static Result<TlsContext> web_client(std::string_view host, std::string_view ca_pem = {});
  // For first contact only: accepts any server. Follow with ca_from_chain and send nothing.
  static Result<TlsContext> first_contact();

  // For SSL_new. Libraries that take ownership of a context (Asio does) get a reference of their own.
  [[nodiscard]] ssl_ctx_st* native() const { return context_.get(); }
  [[nodiscard]] ssl_ctx_st* new_reference() const;
  // What a client asks the server for by name; empty: nothing.
  [[nodiscard]] const std::string& server_name() const { return server_name_; }

 private:
  explicit TlsContext(std::shared_ptr<ssl_ctx_st> context) : context_(std::move(context)) {}
  std::shared_ptr<ssl_ctx_st> context_;
  std::string server_name_;
};

// Who is at the other end of a finished handshake; unauthenticated when it showed no certificate.
Result<PeerId> peer_id_of(const ssl_st* connection);

// Judges certificate dates of this connection by `now` instead of the machine's clock; before its
// handshake. A volunteer passes the coordinator's time, so that a wrong clock of its own does no harm.
void set_verification_time(ssl_st* connection, WallTime now);

// By which records of application data are protected once a handshake is over, each way (RFC 8446, section 7.1).
struct TrafficSecrets {
  TrafficSecrets() = default;
  TrafficSecrets(const TrafficSecrets&) = delete;
  TrafficSecrets& operator=(const TrafficSecrets&) = delete;
  ~TrafficSecrets();  // leaves nothing of them in memory
  std::vector<std::uint8_t> of_client;
  std::vector<std::uint8_t> of_server;
};
// `secrets` gets them with this connection's handshake, which it outlives; null: nobody does. Before the handshake of a
// member's connection: TlsContext::peer, coordinator_client or first_contact.
void tell_traffic_secrets(ssl_st* connection, TrafficSecrets* secrets);

// The certificate of the CA with this fingerprint out of what the server sent, as PEM, provided that it
// signed the server's certificate and that one carries kCoordinatorName.
Result<std::string> ca_from_chain(ssl_st* connection, const Digest& fingerprint);

// Why the last call on this connection failed, for people: "tls handshake: certificate is not yet valid: …".
// unauthenticated when a certificate was refused (by us or by the other end), else unavailable. `code` is
// OpenSSL's error code where somebody (Asio) has taken it from the thread's queue already; 0: take it. A connection
// whose handshake is long over may be gone: null.
Error tls_error(const ssl_st* connection, std::string_view what, unsigned long code = 0);

}  // namespace starling::crypto
