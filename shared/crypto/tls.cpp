#include "shared/crypto/tls.h"

#include "shared/crypto/certificates.h"
#include "shared/crypto/lean_library.h"
#include "shared/crypto/openssl_handles.h"
#include "shared/crypto/verified_certificates.h"
#include "shared/crypto/wrong_clock.h"

namespace starling::crypto {
namespace {

// AES-128 comes first: with hardware support it is the fastest, and it is as strong as X25519 needs.
constexpr const char* kCiphersuites = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384";

using ContextPtr = std::shared_ptr<SSL_CTX>;

ContextPtr make_context(OSSL_LIB_CTX* library) {
  ContextPtr context(SSL_CTX_new_ex(library, nullptr, TLS_method()), SSL_CTX_free);
  VERIFY(context != nullptr);
  SSL_CTX* native = context.get();
  VERIFY(SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION) == 1);
  VERIFY(SSL_CTX_set_ciphersuites(native, kCiphersuites) == 1);
  VERIFY(SSL_CTX_set1_groups_list(native, "X25519:P-256") == 1);
  // Resumption is off, so every connection proves its key and shows its certificate again.
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  VERIFY(SSL_CTX_set_num_tickets(native, 0) == 1);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(native, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);  // saves 34 KB per connection
  SSL_CTX_set_mode(native, SSL_MODE_NO_AUTO_CHAIN);    // clients have the CA's certificate, or it is added explicitly
  return context;
}

Status trust_only(SSL_CTX* context, X509* authority) {
  if (X509_check_ca(authority) != 1) {
    return Error{ErrorCode::invalid_argument, "set up TLS: the project's certificate is not a CA's"};
  }
  StorePtr store(X509_STORE_new());
  VERIFY(store != nullptr && X509_STORE_add_cert(store.get(), authority) == 1);
  SSL_CTX_set_cert_store(context, store.release());
  SSL_CTX_set_verify_depth(context, 1);  // the CA's path length of 0 forbids intermediates anyway
  return {};
}

Status use_identity(SSL_CTX* context, const TlsIdentity& identity) {
  STARLING_ASSIGN(const X509Ptr certificate, parse_certificate(identity.certificate_pem));
  if (SSL_CTX_use_certificate(context, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, identity.key.native()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return openssl_error(ErrorCode::failed_precondition, "set up TLS: use our certificate");
  }
  return {};
}

Status use_web_identity(SSL_CTX* context, const WebIdentity& web) {
  const BioPtr chain = bio_of(web.chain_pem);
  const X509Ptr leaf(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  const BioPtr key_bio = bio_of(web.key_pem);
  const KeyPtr key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
  if (leaf == nullptr || key == nullptr) return openssl_error(ErrorCode::corrupt, "set up TLS: read web certificate");
  if (is_ed25519(key.get())) {
    return Error{ErrorCode::unsupported, "set up TLS: a web certificate needs an ECDSA or RSA key"};
  }
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1 || SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return openssl_error(ErrorCode::failed_precondition, "set up TLS: use web certificate");
  }
  while (const X509Ptr link{PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)}) {
    VERIFY(SSL_CTX_add1_chain_cert(context, link.get()) == 1);
  }
  ERR_clear_error();
  return {};
}

// A client that names the project's CA (extension certificate_authorities: RFC 8446, section 4.2.4) has its
// certificate. The CA's certificate is left out of the chain then (section 4.4.2): decoding it needlessly costs as much
// as verifying a signature.
int leave_out_known_authority(SSL* connection, void* /*unused*/) {
  const STACK_OF(X509_NAME)* known = SSL_get0_peer_CA_list(connection);
  const X509_NAME* own = sk_X509_NAME_value(SSL_CTX_get_client_CA_list(SSL_get_SSL_CTX(connection)), 0);
  for (int i = 0; i < sk_X509_NAME_num(known); ++i) {
    if (X509_NAME_cmp(sk_X509_NAME_value(known, i), own) != 0) continue;
    return static_cast<int>(SSL_clear_chain_certs(connection));
  }
  return 1;
}

// Alerts that report a refused certificate of ours (RFC 8446, section 6.2).
bool is_certificate_alert(unsigned long code) {
  if (ERR_GET_LIB(code) != ERR_LIB_SSL) return false;
  switch (ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

std::string explain_verification(long result) {
  std::string text = X509_verify_cert_error_string(result);
  switch (result) {
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return text.append(kWrongClock);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return text + ": it was not renewed, or this computer's date is wrong";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return text + ": the certificate is not of this project";
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return text + ": the certificate is a volunteer's, not the coordinator's";
    default:
      return text;
  }
}

int secrets_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  VERIFY(index >= 0);
  return index;
}

// OpenSSL reports a connection's secrets only as lines of SSLKEYLOGFILE: a label, the handshake's number, and the
// secret, both in hexadecimal.
void take_key_line(const SSL* connection, const char* line) {
  auto* secrets = static_cast<TrafficSecrets*>(SSL_get_ex_data(connection, secrets_index()));
  if (secrets == nullptr) return;
  const std::string_view text(line);
  std::vector<std::uint8_t>* secret = nullptr;
  if (text.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) secret = &secrets->of_client;
  if (text.starts_with("SERVER_TRAFFIC_SECRET_0 ")) secret = &secrets->of_server;
  if (secret == nullptr) return;
  const std::string_view digits = text.substr(text.rfind(' ') + 1);
  secret->resize(digits.size() / 2);
  VERIFY(from_hex(digits, *secret).ok());
}

// Members of a project use Ed25519 only. A server with a second certificate for browsers selects by this.
void speak_as_member(SSL_CTX* context) {
  VERIFY(SSL_CTX_set1_sigalgs_list(context, "ed25519") == 1);
  SSL_CTX_set_keylog_callback(context, take_key_line);
}

}  // namespace

Result<TlsContext> TlsContext::coordinator_server(std::string_view ca_pem, const TlsIdentity& identity,
                                                  const std::optional<WebIdentity>& web) {
  STARLING_ASSIGN(const X509Ptr authority, parse_certificate(ca_pem));
  ContextPtr context = make_context(lean_library());
  STARLING_TRY(trust_only(context.get(), authority.get()));
  if (web.has_value()) STARLING_TRY(use_web_identity(context.get(), *web));
  STARLING_TRY(use_identity(context.get(), identity));
  VERIFY(SSL_CTX_add1_chain_cert(context.get(), authority.get()) == 1);
  // Naming the CA keeps browsers from asking their users for certificates of other purposes.
  VERIFY(SSL_CTX_add_client_CA(context.get(), authority.get()) == 1);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  VerifiedCertificates::use_in(context.get());
  SSL_CTX_set_cert_cb(context.get(), leave_out_known_authority, nullptr);
  return TlsContext(std::move(context));
}

Result<TlsContext> TlsContext::coordinator_client(std::string_view ca_pem, const std::optional<TlsIdentity>& identity) {
  STARLING_ASSIGN(const X509Ptr authority, parse_certificate(ca_pem));
  ContextPtr context = make_context(lean_library());
  speak_as_member(context.get());
  STARLING_TRY(trust_only(context.get(), authority.get()));
  if (identity.has_value()) STARLING_TRY(use_identity(context.get(), *identity));
  X509_VERIFY_PARAM* parameters = SSL_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS);
  VERIFY(X509_VERIFY_PARAM_set1_host(parameters, kCoordinatorName.data(), kCoordinatorName.size()) == 1);
  VERIFY(SSL_CTX_add1_to_CA_list(context.get(), authority.get()) == 1);  // so the server need not send it
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  VerifiedCertificates::use_in(context.get());  // covers the name too, which is equal for all handshakes of a context
  return TlsContext(std::move(context));
}

Result<TlsContext> TlsContext::peer(std::string_view ca_pem, const TlsIdentity& identity) {
  STARLING_ASSIGN(const X509Ptr authority, parse_certificate(ca_pem));
  ContextPtr context = make_context(lean_library());
  speak_as_member(context.get());
  STARLING_TRY(trust_only(context.get(), authority.get()));
  STARLING_TRY(use_identity(context.get(), identity));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  TlsContext made(std::move(context));
  made.peer_key_ = identity.key;
  return made;
}

Result<TlsContext> TlsContext::first_contact() {
  ContextPtr context = make_context(nullptr);
  speak_as_member(context.get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  return TlsContext(std::move(context));
}

ssl_ctx_st* TlsContext::new_reference() const {
  VERIFY(SSL_CTX_up_ref(context_.get()) == 1);
  return context_.get();
}

Result<PeerId> peer_id_of(const ssl_st* connection) {
  X509* certificate = SSL_get0_peer_certificate(connection);
  if (certificate == nullptr) return Error{ErrorCode::unauthenticated, "identify peer: it showed no certificate"};
  if (const long result = SSL_get_verify_result(connection); result != X509_V_OK) {
    return Error{ErrorCode::unauthenticated, "identify peer: " + explain_verification(result)};
  }
  if (!is_ed25519(X509_get0_pubkey(certificate))) {
    return Error{ErrorCode::unauthenticated, "identify peer: its key is not Ed25519"};
  }
  return spki_digest(certificate);
}

void set_verification_time(ssl_st* connection, WallTime now) {
  X509_VERIFY_PARAM_set_time(SSL_get0_param(connection), now.unix_ms / 1000);
}

TrafficSecrets::~TrafficSecrets() {
  for (auto* secret : {&of_client, &of_server}) OPENSSL_cleanse(secret->data(), secret->size());
}

void tell_traffic_secrets(ssl_st* connection, TrafficSecrets* secrets) {
  VERIFY(SSL_set_ex_data(connection, secrets_index(), secrets) == 1);
}

Result<std::string> ca_from_chain(ssl_st* connection, const Digest& fingerprint) {
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(connection);
  X509* leaf = SSL_get0_peer_certificate(connection);
  X509* authority = nullptr;
  for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) {
    X509* candidate = sk_X509_value(chain, i);
    if (certificate_fingerprint(candidate) == fingerprint) authority = candidate;
  }
  if (leaf == nullptr || authority == nullptr || X509_check_ca(authority) != 1) {
    return Error{ErrorCode::unauthenticated,
                 "check the coordinator: it is not the project that the join link names (other CA)"};
  }
  const StorePtr store(X509_STORE_new());
  const StoreContextPtr check(X509_STORE_CTX_new());
  VERIFY(store != nullptr && check != nullptr && X509_STORE_add_cert(store.get(), authority) == 1);
  VERIFY(X509_STORE_CTX_init(check.get(), store.get(), leaf, nullptr) == 1);
  VERIFY(X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_SERVER) == 1);
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(check.get());
  // Applies set_verification_time, if it was called.
  VERIFY(X509_VERIFY_PARAM_set1(parameters, SSL_get0_param(connection)) == 1);
  const bool trusted = X509_verify_cert(check.get()) == 1;
  ERR_clear_error();
  if (!trusted) {
    return Error{ErrorCode::unauthenticated,
                 "check the coordinator: " + explain_verification(X509_STORE_CTX_get_error(check.get()))};
  }
  if (!names_coordinator(leaf)) {
    return Error{ErrorCode::unauthenticated, "check the coordinator: it shows a volunteer's certificate"};
  }
  return certificate_to_pem(authority);
}

Error tls_error(const ssl_st* connection, std::string_view what, unsigned long code) {
  if (code == 0) code = ERR_get_error();
  ERR_clear_error();
  const std::string prefix = std::string(what) + ": ";
  const long result = connection != nullptr ? SSL_get_verify_result(connection) : X509_V_OK;
  if (result != X509_V_OK) {
    return {ErrorCode::unauthenticated, prefix + explain_verification(result)};
  }
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  const std::string text = reason != nullptr ? reason : "connection lost";
  if (is_certificate_alert(code)) {
    return {ErrorCode::unauthenticated, prefix + "the other end refused our certificate (" + text + ")"};
  }
  if (ERR_GET_REASON(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE && ERR_GET_LIB(code) == ERR_LIB_SSL) {
    return {ErrorCode::unauthenticated, prefix + "the other end showed no certificate"};
  }
  return {ErrorCode::unavailable, prefix + text};
}

}  // namespace starling::crypto
