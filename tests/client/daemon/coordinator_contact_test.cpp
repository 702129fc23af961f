// A run's talk with a coordinator that goes away, and permission for it that comes and goes.
#include "client/daemon/coordinator_contact.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/unique_fd.h"
#include "shared/crypto/certificates.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/client/daemon/played_threads.h"

using namespace starling;
using namespace starling::daemon;

namespace {

// Accepts connections and answers nothing.
class SilentCoordinator {
 public:
  SilentCoordinator() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(listener_.get(), generic, size) == 0);
    REQUIRE(::listen(listener_.get(), 8) == 0);
    REQUIRE(::getsockname(listener_.get(), generic, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // The next caller's connection.
  [[nodiscard]] UniqueFd accept() const { return UniqueFd(::accept(listener_.get(), nullptr, nullptr)); }
  void go_away() { listener_.reset(); }

 private:
  UniqueFd listener_;
  std::uint16_t port_ = 0;
};

std::unique_ptr<CoordinatorCalls> calls_to(std::uint16_t port, CorrectedClock& clock,
                                           const storage::HostCertificate& certificate) {
  const auto ca = *crypto::CertificateAuthority::create("test", clock.wall_now());
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  crypto::IssueOptions options;
  options.now = clock.wall_now();
  storage::Project project;
  project.host = "127.0.0.1";
  project.port = port;
  project.ca_pem = ca.certificate_pem();
  project.certificate = certificate;
  project.certificate.renew(*ca.issue(crypto::make_csr(key), options));
  auto calls = CoordinatorCalls::create(project, key, clock);
  REQUIRE(calls.ok());
  return std::move(*calls);
}

// A run's threads and its contact. `answers` is for the control thread alone, `sent` for the coordinator thread.
struct Contact {
  Contact() : calls(calls_to(server.port(), threads.clock, certificate)) {
    const auto answered = [this](TimePoint, const Result<wire::HeartbeatReply>& reply) {
      answers.push_back(reply.ok() ? "answered" : reply.error().message);
    };
    threads.on_control([&] {
      contact.emplace(
          threads.run, *calls,
          CoordinatorContact::Listener{[this](wire::Heartbeat&) { ++sent; }, [](wire::Heartbeat&) {}, answered,
                                       [this](const std::string& pem) { adopted.push_back(pem); }});
    });
  }
  ~Contact() { threads.end(); }

  void send() {
    threads.on_control([this] { contact->send({}); });
  }
  std::vector<std::string> settled() {
    threads.settle();
    std::vector<std::string> copy;
    threads.on_control([&] { copy = answers; });
    return copy;
  }

  SilentCoordinator server;
  daemon::testing::PlayedThreads threads;
  storage::HostCertificate certificate;  // the one that the calls show, too
  std::unique_ptr<CoordinatorCalls> calls;
  std::vector<std::string> answers;
  std::vector<std::string> adopted;
  int sent = 0;
  std::optional<CoordinatorContact> contact;
};

}  // namespace

TEST_CASE("a heartbeat fails when nobody listens, and so does the next one") {
  Contact run;
  run.server.go_away();
  run.send();
  CHECK(run.settled().size() == 1);
  run.send();
  const auto answers = run.settled();
  REQUIRE(answers.size() == 2);
  for (const std::string& answer : answers) CHECK(answer != "answered");
  CHECK(run.sent == 2);
}

TEST_CASE("a certificate that somebody else renewed is used for everything from the next heartbeat on") {
  Contact run;
  run.server.go_away();
  run.send();
  (void)run.settled();
  CHECK(run.adopted.empty());
  const crypto::CertificateAuthority ca = *crypto::CertificateAuthority::create("other", run.threads.clock.wall_now());
  crypto::IssueOptions options;
  options.now = run.threads.clock.wall_now();
  run.certificate.renew(*ca.issue(crypto::make_csr(crypto::PrivateKey::generate()), options));
  for (int i = 0; i < 2; ++i) {
    run.send();
    (void)run.settled();
  }
  CHECK(run.adopted == std::vector<std::string>{run.certificate.pem()});
}

TEST_CASE("without permission no heartbeat is sent, and the run hears that it failed") {
  Contact run;
  Permission none;
  none.coordinator = false;
  run.threads.on_control([&] { CHECK_FALSE(run.contact->obey(none)); });
  run.send();
  CHECK(run.settled() == std::vector<std::string>{"the network is switched off"});
  CHECK(run.sent == 0);
  run.server.go_away();
  run.threads.on_control([&] { CHECK_FALSE(run.contact->obey({})); });
  run.send();
  CHECK(run.settled().size() == 2);
  CHECK(run.sent == 1);
}

TEST_CASE("the coordinator is to hear of this computer once when data is no longer to be spared") {
  Contact run;
  Permission sparing;
  sparing.spares_data = true;
  run.threads.on_control([&] {
    CHECK_FALSE(run.contact->obey(sparing));
    CHECK(run.contact->obey({}));
    CHECK_FALSE(run.contact->obey({}));
  });
}

TEST_CASE("an answer that comes after the run was stopped is dropped") {
  Contact run;
  run.send();
  UniqueFd caller = run.server.accept();  // the call is under way
  run.threads.on_control([&] { run.threads.run.stop(); });
  run.server.go_away();
  caller.reset();
  CHECK(run.settled().empty());
}
