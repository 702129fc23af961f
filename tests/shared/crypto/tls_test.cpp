// Real handshakes of OpenSSL over a pair of memory buffers: accepted ones, refused ones, and the messages.
#include "shared/crypto/tls.h"

#include <doctest/doctest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>

#include "shared/crypto/certificates.h"
#include "shared/crypto/wrong_clock.h"

using namespace starling;
using namespace starling::crypto;

namespace {

constexpr WallTime kNow{1'760'000'000'000};
constexpr std::int64_t kMinute = 60'000;

WallTime minutes_later(std::int64_t minutes) { return {kNow.unix_ms + minutes * kMinute}; }

struct Project {
  CertificateAuthority authority = *CertificateAuthority::create("Test", kNow);
  PrivateKey coordinator_key = PrivateKey::generate();

  [[nodiscard]] TlsIdentity volunteer(const PrivateKey& key = PrivateKey::generate()) const {
    return {*authority.issue(make_csr(key), {.now = kNow}), key};
  }
  [[nodiscard]] TlsIdentity coordinator() const {
    return {*authority.issue_server(coordinator_key.public_key(), {.now = kNow, .hosts = {}}), coordinator_key};
  }
  [[nodiscard]] TlsContext peer(const TlsIdentity& identity) const {
    return *TlsContext::peer(authority.certificate_pem(), identity);
  }
  [[nodiscard]] TlsContext client(const std::optional<TlsIdentity>& identity) const {
    return *TlsContext::coordinator_client(authority.certificate_pem(), identity);
  }
  [[nodiscard]] TlsContext server(const TlsIdentity& identity) const {
    return *TlsContext::coordinator_server(authority.certificate_pem(), identity);
  }
};

// Two ends of one connection. Each end drives its handshake and then one read, because in TLS 1.3 a client
// learns only then that it was refused.
class Link {
 public:
  Link(const TlsContext& client, const TlsContext& server, WallTime client_now = kNow, WallTime server_now = kNow)
      : client_(SSL_new(client.native())), server_(SSL_new(server.native())) {
    BIO* client_end = nullptr;
    BIO* server_end = nullptr;
    REQUIRE(BIO_new_bio_pair(&client_end, 0, &server_end, 0) == 1);
    SSL_set_bio(client_.get(), client_end, client_end);
    SSL_set_bio(server_.get(), server_end, server_end);
    SSL_set_connect_state(client_.get());
    SSL_set_accept_state(server_.get());
    set_verification_time(client_.get(), client_now);
    set_verification_time(server_.get(), server_now);
    run();
  }

  [[nodiscard]] bool up() const { return !client_error_.has_value() && !server_error_.has_value(); }
  [[nodiscard]] const Error& client_error() const { return client_error_.value(); }
  [[nodiscard]] const Error& server_error() const { return server_error_.value(); }
  [[nodiscard]] SSL* client() const { return client_.get(); }
  [[nodiscard]] SSL* server() const { return server_.get(); }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  // One step of an end that has not failed: handshake, then a read that finds at most an alert.
  static void step(SSL* ssl, std::optional<Error>& error) {
    if (error.has_value()) return;
    char byte = 0;
    const int result = SSL_is_init_finished(ssl) == 1 ? SSL_read(ssl, &byte, 1) : SSL_do_handshake(ssl);
    if (result <= 0 && SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ) error = tls_error(ssl, "handshake");
  }

  void run() {
    constexpr int kStepsMax = 10;  // a handshake takes three
    for (int i = 0; i < kStepsMax; ++i) {
      step(client_.get(), client_error_);
      step(server_.get(), server_error_);
    }
    if (!client_error_.has_value()) CHECK(SSL_is_init_finished(client_.get()) == 1);
  }

  std::unique_ptr<SSL, Free> client_;
  std::unique_ptr<SSL, Free> server_;
  std::optional<Error> client_error_;
  std::optional<Error> server_error_;
};

bool mentions(const Error& error, const std::string& words) { return error.message.find(words) != std::string::npos; }

// The certificate with one bit of its signature (its last bytes) changed.
std::string with_broken_signature(std::string pem) {
  const std::size_t last_line = pem.rfind('\n', pem.find("\n-----END") - 1);
  char& letter = pem[last_line + 4];
  letter = letter == 'A' ? 'B' : 'A';
  return pem;
}

}  // namespace

TEST_CASE("two volunteers of a project meet and know each other") {
  const Project project;
  const PrivateKey ann = PrivateKey::generate();
  const PrivateKey ben = PrivateKey::generate();
  const Link link(project.peer(project.volunteer(ann)), project.peer(project.volunteer(ben)));
  REQUIRE(link.up());
  CHECK(*peer_id_of(link.client()) == ben.peer_id());
  CHECK(*peer_id_of(link.server()) == ann.peer_id());
  CHECK(SSL_version(link.client()) == TLS1_3_VERSION);
}

TEST_CASE("a volunteer of another project is refused by both ends") {
  const Project project;
  const Project other;
  const Link dialled(other.peer(other.volunteer()), project.peer(project.volunteer()));
  CHECK(dialled.client_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(dialled.client_error(), "not of this project"));

  // A dialler that does not check us is still checked by us.
  auto careless = project.peer(other.volunteer());
  const Link accepted(careless, project.peer(project.volunteer()));
  CHECK(accepted.server_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(accepted.server_error(), "not of this project"));
  CHECK(accepted.client_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(accepted.client_error(), "refused our certificate"));
}

TEST_CASE("a volunteer without a certificate is refused on the peer port") {
  const Project project;
  const Link link(*TlsContext::first_contact(), project.peer(project.volunteer()));
  CHECK(link.server_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(link.server_error(), "showed no certificate"));
  CHECK(link.client_error().code == ErrorCode::unauthenticated);
}

TEST_CASE("an expired certificate is refused, and the message says so") {
  const Project project;
  const WallTime next_day = minutes_later(24 * 60 + 1);
  const Link link(project.peer(project.volunteer()), project.peer(project.volunteer()), kNow, next_day);
  CHECK(link.server_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(link.server_error(), "expired"));
  CHECK(mentions(link.client_error(), "refused our certificate"));
}

TEST_CASE("a clock nine minutes behind is tolerated, an hour behind is named as the cause") {
  const Project project;
  const TlsContext ann = project.peer(project.volunteer());
  const TlsContext ben = project.peer(project.volunteer());
  CHECK(Link(ann, ben, minutes_later(-9), kNow).up());
  const Link late(ann, ben, minutes_later(-60), kNow);
  CHECK(late.client_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(late.client_error(), "not yet valid"));
  CHECK(is_wrong_clock(late.client_error()));
  CHECK_FALSE(is_wrong_clock(Link(ann, ben, kNow, minutes_later(24 * 60 + 1)).server_error()));  // it has run out
}

TEST_CASE("an hour's error of the clock in either direction does not hide the coordinator") {
  const Project project;
  for (const std::int64_t minutes : {-60, 60}) {
    CAPTURE(minutes);
    CHECK(Link(project.client(std::nullopt), project.server(project.coordinator()), minutes_later(minutes)).up());
  }
}

TEST_CASE("a certificate for servers only does not dial peers") {
  const Project project;
  const Link link(project.peer(project.coordinator()), project.peer(project.volunteer()));
  CHECK(link.server_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(link.server_error(), "purpose"));
}

TEST_CASE("a certificate with a changed signature is refused") {
  const Project project;
  TlsIdentity forged = project.volunteer();
  forged.certificate_pem = with_broken_signature(forged.certificate_pem);
  const Link link(project.peer(forged), project.peer(project.volunteer()));
  CHECK(link.server_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(link.server_error(), "signature"));
}

TEST_CASE("a certificate cannot be used with another key") {
  const Project project;
  const auto context = TlsContext::peer(project.authority.certificate_pem(),
                                        {project.volunteer().certificate_pem, PrivateKey::generate()});
  REQUIRE(!context.ok());
  CHECK(context.error().code == ErrorCode::failed_precondition);
}

TEST_CASE("nothing is left over to resume a connection with") {
  const Project project;
  const TlsContext server = project.peer(project.volunteer());
  const TlsContext client = project.peer(project.volunteer());
  const Link first(client, server);
  REQUIRE(first.up());
  SSL_SESSION* session = SSL_get1_session(first.client());
  REQUIRE(session != nullptr);
  CHECK(SSL_SESSION_is_resumable(session) == 0);
  CHECK(SSL_SESSION_has_ticket(session) == 0);
  SSL_SESSION_free(session);
  CHECK(SSL_CTX_sess_number(server.native()) == 0);
  const Link second(client, server);
  REQUIRE(second.up());
  CHECK(SSL_session_reused(second.server()) == 0);
}

TEST_CASE("the coordinator lets in a client without a certificate, and knows that it has none") {
  const Project project;
  const Link link(project.client(std::nullopt), project.server(project.coordinator()));
  REQUIRE(link.up());
  CHECK(peer_id_of(link.server()).error().code == ErrorCode::unauthenticated);
}

TEST_CASE("the coordinator knows a client by its certificate, and refuses one of another project") {
  const Project project;
  const PrivateKey ann = PrivateKey::generate();
  const Link link(project.client(project.volunteer(ann)), project.server(project.coordinator()));
  REQUIRE(link.up());
  CHECK(*peer_id_of(link.server()) == ann.peer_id());

  const Link stranger(project.client(Project().volunteer()), project.server(project.coordinator()));
  CHECK(stranger.server_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(stranger.client_error(), "refused our certificate"));
}

TEST_CASE("a certificate that the coordinator has seen before gets no further in than a new one") {
  const Project project;
  const TlsContext server = project.server(project.coordinator());
  const TlsIdentity ann = project.volunteer();
  for (int visit = 0; visit < 3; ++visit) {
    const Link link(project.client(ann), server);
    REQUIRE(link.up());
    CHECK(*peer_id_of(link.server()) == ann.key.peer_id());
  }
  const Link late(project.client(ann), server, kNow, minutes_later(24 * 60 + 1));
  CHECK(mentions(late.server_error(), "expired"));
  const Link early(project.client(ann), server, kNow, minutes_later(-60));
  CHECK(mentions(early.server_error(), "not yet valid"));
  TlsIdentity forged = ann;
  forged.certificate_pem = with_broken_signature(forged.certificate_pem);
  CHECK(Link(project.client(forged), server).server_error().code == ErrorCode::unauthenticated);
}

TEST_CASE("a volunteer cannot pass for the coordinator") {
  const Project project;
  const Link link(project.client(std::nullopt), project.server(project.volunteer()));
  CHECK(link.client_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(link.client_error(), "a volunteer's, not the coordinator's"));
}

TEST_CASE(
    "who has met the coordinator still takes nobody else for it, nor its certificate without the key or too late") {
  const Project project;
  const TlsIdentity coordinator = project.coordinator();
  const TlsContext client = project.client(project.volunteer());
  REQUIRE(Link(client, project.server(coordinator)).up());
  REQUIRE(Link(client, project.server(coordinator)).up());
  const Link volunteer(client, project.server(project.volunteer()));
  CHECK(mentions(volunteer.client_error(), "a volunteer's, not the coordinator's"));
  const Project other;
  CHECK(mentions(Link(client, other.server(other.coordinator())).client_error(), "not of this project"));
  const Link late(client, project.server(coordinator), minutes_later(400 * 24 * 60), kNow);
  CHECK(mentions(late.client_error(), "expired"));
}

TEST_CASE("the coordinator of another project is refused") {
  const Project project;
  const Project other;
  const Link link(project.client(std::nullopt), other.server(other.coordinator()));
  CHECK(link.client_error().code == ErrorCode::unauthenticated);
  CHECK(mentions(link.client_error(), "not of this project"));
}

TEST_CASE("first contact takes the CA out of the handshake when its fingerprint is the expected one") {
  const Project project;
  const Link link(*TlsContext::first_contact(), project.server(project.coordinator()));
  REQUIRE(link.up());
  const auto ca = ca_from_chain(link.client(), project.authority.fingerprint());
  REQUIRE(ca.ok());
  CHECK(*ca == project.authority.certificate_pem());
  const auto other = ca_from_chain(link.client(), Project().authority.fingerprint());
  REQUIRE(!other.ok());
  CHECK(other.error().code == ErrorCode::unauthenticated);
}

TEST_CASE("the CA is sent to nobody who has it") {
  const Project project;
  const TlsContext server = project.server(project.coordinator());
  const Link member(project.client(project.volunteer()), server);
  REQUIRE(member.up());
  CHECK(sk_X509_num(SSL_get_peer_cert_chain(member.client())) == 1);
  const Link stranger(*TlsContext::first_contact(), server);
  REQUIRE(stranger.up());
  CHECK(sk_X509_num(SSL_get_peer_cert_chain(stranger.client())) == 2);
}

TEST_CASE("first contact with a volunteer that shows the right CA is refused") {
  const Project project;
  const Link volunteer(*TlsContext::first_contact(), project.server(project.volunteer()));
  REQUIRE(volunteer.up());
  const auto ca = ca_from_chain(volunteer.client(), project.authority.fingerprint());
  REQUIRE(!ca.ok());
  CHECK(mentions(ca.error(), "volunteer"));
}

TEST_CASE("first contact with a stranger that appends the right CA to its own chain is refused") {
  const Project project;
  const Project other;
  const TlsContext stranger = *TlsContext::coordinator_server(project.authority.certificate_pem(), other.coordinator());
  const Link link(*TlsContext::first_contact(), stranger);
  REQUIRE(link.up());
  const auto ca = ca_from_chain(link.client(), project.authority.fingerprint());
  REQUIRE(!ca.ok());
  CHECK(mentions(ca.error(), "not of this project"));
}

TEST_CASE("a browser gets a certificate that it can read, a volunteer the project's") {
  const Project project;
  const auto web = make_web_identity({"localhost", "127.0.0.1"}, kNow);
  REQUIRE(web.ok());
  const TlsContext server =
      *TlsContext::coordinator_server(project.authority.certificate_pem(), project.coordinator(), *web);
  const TlsContext browser = *TlsContext::first_contact();
  REQUIRE(SSL_CTX_set1_sigalgs_list(browser.native(), "ECDSA+SHA256:RSA-PSS+SHA256") == 1);
  const Link page(browser, server);
  REQUIRE(page.up());
  CHECK(EVP_PKEY_get_base_id(X509_get0_pubkey(SSL_get0_peer_certificate(page.client()))) == EVP_PKEY_EC);
  CHECK(Link(project.client(project.volunteer()), server).up());
}

TEST_CASE("older protocol versions are not spoken") {
  const Project project;
  const TlsContext old = *TlsContext::first_contact();
  REQUIRE(SSL_CTX_set_min_proto_version(old.native(), TLS1_2_VERSION) == 1);
  REQUIRE(SSL_CTX_set_max_proto_version(old.native(), TLS1_2_VERSION) == 1);
  const Link link(old, project.server(project.coordinator()));
  CHECK(link.client_error().code == ErrorCode::unavailable);
}
