// TLS 1.3 as the project uses it: one CA, no resumption (a revoked peer could come back with a ticket).
//
// Facts that bind callers:
// - A client's handshake *succeeds* even when the server refuses its certificate; the refusal comes with the first
//   read. A peer is up when its hello has arrived, not before.
// - The peer port proves that the other end is a member of this project. peer_id_of says which member, and the caller
//   compares it with the plan: a valid certificate of another member is refused.
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

// A certificate chain and its key for browsers, which do not support Ed25519. The key is ECDSA or RSA; the chain comes
// from a public CA or from make_web_identity.
struct WebIdentity {
  std::string chain_pem;
  std::string key_pem;
};
// Makes a self-signed ECDSA P-256 identity (browsers warn), valid for kServerCertificateLifetime.
Result<WebIdentity> make_web_identity(const std::vector<std::string>& hosts, WallTime now);

// Copies share the native context, which is not changed after its creation. Safe from several threads.
class TlsContext {
 public:
  // Context of the coordinator's port. A client certificate is requested; if one comes, it must be of this CA and in
  // date, and a client without one is let in (peer_id_of then returns unauthenticated). The CA's certificate is sent
  // along for clients that know only its fingerprint. Volunteers always see `identity`; browsers see `web`.
  static Result<TlsContext> coordinator_server(std::string_view ca_pem, const TlsIdentity& identity,
                                               const std::optional<WebIdentity>& web = std::nullopt);
  // Context of a volunteer's link to the coordinator, whose certificate must be of this CA and carry kCoordinatorName.
  static Result<TlsContext> coordinator_client(std::string_view ca_pem, const std::optional<TlsIdentity>& identity);
  // Context of links between volunteers, accepting and dialling alike: both must show a certificate of this CA.
  static Result<TlsContext> peer(std::string_view ca_pem, const TlsIdentity& identity);
  // For first contact only: accepts any server. Follow with ca_from_chain and send nothing.
  static Result<TlsContext> first_contact();

  // Handle for SSL_new. Libraries that take ownership of a context (Asio does) get a reference of their own.
  [[nodiscard]] ssl_ctx_st* native() const { return context_.get(); }
  [[nodiscard]] ssl_ctx_st* new_reference() const;
  // Key of the identity that a peer's context was made with; none in other contexts.
  [[nodiscard]] const std::optional<PrivateKey>& peer_key() const { return peer_key_; }

 private:
  explicit TlsContext(std::shared_ptr<ssl_ctx_st> context) : context_(std::move(context)) {}
  std::shared_ptr<ssl_ctx_st> context_;
  std::optional<PrivateKey> peer_key_;
};

// Peer ID of the other end of a finished handshake; unauthenticated when it showed no certificate.
Result<PeerId> peer_id_of(const ssl_st* connection);

// Judges certificate dates of this connection by `now` instead of the machine's clock; to be called before its
// handshake. A volunteer passes the coordinator's time, so that its own wrong clock does no harm.
void set_verification_time(ssl_st* connection, WallTime now);

// Secrets that protect application data after a handshake, one for each direction (RFC 8446, section 7.1).
struct TrafficSecrets {
  TrafficSecrets() = default;
  TrafficSecrets(const TrafficSecrets&) = delete;
  TrafficSecrets& operator=(const TrafficSecrets&) = delete;
  ~TrafficSecrets();  // wipes them from memory
  std::vector<std::uint8_t> of_client;
  std::vector<std::uint8_t> of_server;
};
// Fills `secrets`, which must outlive the handshake, during this connection's handshake; null stops that. To be called
// before the handshake of a member's connection: TlsContext::peer, coordinator_client or first_contact.
void tell_traffic_secrets(ssl_st* connection, TrafficSecrets* secrets);

// The certificate of the CA with this fingerprint, as PEM, from the chain that the server sent, provided that it signed
// the server's certificate and that one carries kCoordinatorName.
Result<std::string> ca_from_chain(ssl_st* connection, const Digest& fingerprint);

// Reason why the last call on this connection failed, for people: "tls handshake: certificate is not yet valid: …".
// unauthenticated when either end refused a certificate, else unavailable. `code` is OpenSSL's error code if the caller
// (Asio) has taken it from the thread's queue already; 0: take it. `connection` may be null when its handshake is long
// over.
Error tls_error(const ssl_st* connection, std::string_view what, unsigned long code = 0);

}  // namespace starling::crypto
