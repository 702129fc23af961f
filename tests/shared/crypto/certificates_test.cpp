#include "shared/crypto/certificates.h"

#include <doctest/doctest.h>

#include "shared/crypto/tls.h"

using namespace starling;
using namespace starling::crypto;

namespace {

constexpr WallTime kNow{1'760'000'000'000};
constexpr std::int64_t kMinute = 60'000;

CertificateAuthority new_project() {
  auto authority = CertificateAuthority::create("Reading club", kNow);
  REQUIRE(authority.ok());
  return *authority;
}

}  // namespace

TEST_CASE("a certificate names the peer, for a day, beginning ten minutes ago") {
  const CertificateAuthority project = new_project();
  const PrivateKey key = PrivateKey::generate();
  const auto pem = project.issue(make_csr(key), {.now = kNow});
  REQUIRE(pem.ok());
  const auto info = read_certificate(*pem);
  REQUIRE(info.ok());
  CHECK(info->peer_id == key.peer_id());
  CHECK(info->common_name == key.peer_id().hex());
  CHECK(info->not_before.unix_ms == kNow.unix_ms - 10 * kMinute);
  CHECK(info->not_after.unix_ms == kNow.unix_ms + 24 * 60 * kMinute);
  CHECK(!info->coordinator);
  CHECK(!info->authority);
}

TEST_CASE("the authority survives the trip through PEM and lasts for twenty years") {
  const CertificateAuthority project = new_project();
  const auto back = CertificateAuthority::load(project.certificate_pem(), project.key_pem());
  REQUIRE(back.ok());
  CHECK(back->fingerprint() == project.fingerprint());
  const auto info = read_certificate(project.certificate_pem());
  REQUIRE(info.ok());
  CHECK(info->authority);
  CHECK(info->common_name == "Reading club");
  CHECK(info->fingerprint == project.fingerprint());
  CHECK(info->not_after.unix_ms - kNow.unix_ms > 19LL * 365 * 24 * 60 * kMinute);
}

TEST_CASE("a key of another project does not make an authority") {
  const auto mixed = CertificateAuthority::load(new_project().certificate_pem(), new_project().key_pem());
  REQUIRE(!mixed.ok());
  CHECK(mixed.error().code == ErrorCode::failed_precondition);
}

TEST_CASE("a volunteer's certificate and key do not make an authority") {
  const PrivateKey key = PrivateKey::generate();
  const auto leaf = new_project().issue(make_csr(key), {.now = kNow});
  CHECK(!CertificateAuthority::load(*leaf, key.to_pem()).ok());
}

TEST_CASE("only the coordinator's certificate says coordinator, with the names it was given") {
  const CertificateAuthority project = new_project();
  const auto pem = project.issue_server(PrivateKey::generate().public_key(),
                                        {.now = kNow, .hosts = {"train.example.org", "192.0.2.7", "::1"}});
  REQUIRE(pem.ok());
  CHECK(read_certificate(*pem)->coordinator);
}

TEST_CASE("host names that could smuggle other fields into a certificate are refused") {
  const CertificateAuthority project = new_project();
  const PublicKey key = PrivateKey::generate().public_key();
  for (const char* host : {"", "a,DNS:evil", "a b", "host:8443", "*.example.org", "\n"}) {
    CAPTURE(host);
    const auto pem = project.issue_server(key, {.now = kNow, .hosts = {host}});
    REQUIRE(!pem.ok());
    CHECK(pem.error().code == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a request that its key did not sign is refused") {
  const CertificateAuthority project = new_project();
  std::string csr = make_csr(PrivateKey::generate());
  CHECK(read_csr(csr).ok());
  const std::size_t last_line = csr.rfind('\n', csr.find("\n-----END") - 1);
  char& letter = csr[last_line + 4];  // within the signature, the last field
  letter = letter == 'A' ? 'B' : 'A';
  const auto pem = project.issue(csr, {.now = kNow});
  REQUIRE(!pem.ok());
  CHECK(pem.error().code == ErrorCode::corrupt);
  CHECK(pem.error().message.find("not signed by its own key") != std::string::npos);
}

TEST_CASE("requests that are no requests are refused") {
  const CertificateAuthority project = new_project();
  CHECK(!project.issue("", {.now = kNow}).ok());
  CHECK(!project.issue(project.certificate_pem(), {.now = kNow}).ok());
  CHECK(!project.issue(std::string(kPemBytesMax + 1, 'x'), {.now = kNow}).ok());
  const std::string csr = make_csr(PrivateKey::generate());
  CHECK(!project.issue(csr.substr(0, csr.size() / 2), {.now = kNow}).ok());
}

TEST_CASE("a request for a key of another kind is refused") {
  const char* p256 =
      "-----BEGIN CERTIFICATE REQUEST-----\n"
      "MIHFMG4CAQAwDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA\n"
      "BK/EQxWjeaWwwOJiaEC2eL0Y1qQ602ml3DW6qB7p+5hjsnMOHm+cFgcmzW/6Gr9e\n"
      "76orjO8g7Eyw14IvP4hZJj6gADAKBggqhkjOPQQDAgNHADBEAiBy/nq6OU6yuO6W\n"
      "xy5LSTzalFUdMGtF1TUiGuZiu9tzBQIgNfU7SURZhY9l1AM2jctLiONZWyrWdUd8\n"
      "D2560HUGt9Q=\n"
      "-----END CERTIFICATE REQUEST-----\n";
  const auto pem = new_project().issue(p256, {.now = kNow});
  REQUIRE(!pem.ok());
  CHECK(pem.error().code == ErrorCode::unsupported);
}

TEST_CASE("a project's name must fit into a certificate") {
  CHECK(!CertificateAuthority::create("", kNow).ok());
  CHECK(!CertificateAuthority::create(std::string(65, 'x'), kNow).ok());
  std::string letters;
  for (int i = 0; i < 32; ++i) letters += "\u0905\u093f";  // the limit is one of characters, not of bytes
  CHECK(CertificateAuthority::create(letters, kNow).ok());
  CHECK(!CertificateAuthority::create("\xff\xfe", kNow).ok());
  CHECK(CertificateAuthority::create("Lesekreis Köln", kNow).ok());
}
