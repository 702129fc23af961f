#include "shared/reach/prober.h"

#include <doctest/doctest.h>

#include <future>

#include "shared/crypto/certificates.h"
#include "shared/reach/relay_server.h"
#include "tests/shared/reach/nobody_may.h"

using namespace starling;
using namespace starling::reach;
using testing::NobodyMay;

namespace {

struct Project {
  crypto::TlsContext member(const crypto::PrivateKey& key) const {
    crypto::IssueOptions options;
    options.now = clock.wall_now();
    return *crypto::TlsContext::peer(ca.certificate_pem(), {*ca.issue(crypto::make_csr(key), options), key});
  }
  // The TLS context of a coordinator, whose certificate is a server's.
  crypto::TlsContext coordinator() const {
    const crypto::PrivateKey key = crypto::PrivateKey::generate();
    const auto certificate = ca.issue_server(key.public_key(), {.now = clock.wall_now(), .hosts = {}});
    return *crypto::TlsContext::peer(ca.certificate_pem(), {*certificate, key});
  }

  SystemClock clock;
  crypto::CertificateAuthority ca = *crypto::CertificateAuthority::create("test", clock.wall_now());
};

bool reaches(Prober& prober, const Prober::Target& target) {
  std::promise<bool> answer;
  REQUIRE(prober.test(target, [&answer](bool reached) { answer.set_value(reached); }));
  return answer.get_future().get();
}

}  // namespace

TEST_CASE("a member that listens is reached; nobody, and somebody else, are not") {
  const Project project;
  NobodyMay rules;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  auto member = RelayServer::create("127.0.0.1", 0, {project.member(key), project.clock, rules});
  REQUIRE(member.ok());
  const int port = (*member)->port();
  auto prober = Prober::create(project.coordinator(), project.clock);
  REQUIRE(prober.ok());
  CHECK(reaches(**prober, {key.peer_id(), "127.0.0.1", port}));
  CHECK_FALSE(reaches(**prober, {crypto::PrivateKey::generate().peer_id(), "127.0.0.1", port}));
  member->reset();
  CHECK_FALSE(reaches(**prober, {key.peer_id(), "127.0.0.1", port}));
}

TEST_CASE("what is no address is not dialled") {
  const Project project;
  auto prober = Prober::create(project.coordinator(), project.clock);
  REQUIRE(prober.ok());
  CHECK_FALSE((*prober)->test({{}, "localhost", 80}, [](bool) {}));
  CHECK_FALSE((*prober)->test({{}, "127.0.0.1", 0}, [](bool) {}));
}
