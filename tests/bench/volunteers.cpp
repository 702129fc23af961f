#include "tests/bench/volunteers.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "shared/base/version.h"
#include "shared/crypto/certificates.h"
#include "shared/wire/messages.h"
#include "tests/bench/https_connection.h"

namespace starling::bench {
namespace {

constexpr int kJoinsAtOnce = 32;
constexpr Duration kJoinPatience = std::chrono::seconds(30);  // for the next kJoinsAtOnce

// Joins one after the other on a connection.
class Joiners {
 public:
  Joiners(EventLoop& loop, const CoordinatorProcess& coordinator, std::vector<Volunteer>& volunteers)
      : loop_(loop), volunteers_(volunteers) {
    const auto tls = crypto::TlsContext::coordinator_client(coordinator.ca_pem(), std::nullopt);
    VERIFY(tls.ok());
    const auto lines = std::min<std::size_t>(volunteers.size(), kJoinsAtOnce);
    for (std::size_t i = 0; i < lines; ++i) {
      connections_.push_back(std::make_unique<HttpsConnection>(loop, coordinator.port(), *tls));
    }
  }

  Status run() {
    for (const auto& connection : connections_) join_next(*connection);
    while (joined_ < volunteers_.size()) {
      const std::size_t before = joined_;
      const auto settled = [&] { return failure_ || joined_ == volunteers_.size(); };
      if (loop_.run_until(settled, loop_.now() + kJoinPatience)) break;
      if (joined_ == before) return Error{ErrorCode::deadline_exceeded, "join volunteers: no answer"};
    }
    return failure_ ? Status(failure_->prefixed("join volunteers")) : Status();
  }

 private:
  void join_next(HttpsConnection& connection) {
    if (next_ == volunteers_.size()) return;
    const std::size_t index = next_++;
    wire::JoinRequest request;
    request.client_version = kVersion;
    request.display_name = fmt::format("volunteer {}", index);
    request.csr_pem = crypto::make_csr(volunteers_[index].key);
    connection.post("/v1/join", wire::encode(request), [this, index, &connection](const Result<std::string>& body) {
      const auto reply = body.ok() ? wire::decode_join_reply(*body) : Result<wire::JoinReply>(body.error());
      if (!reply.ok()) {
        failure_ = reply.error();
        return;
      }
      volunteers_[index].certificate_pem = reply->certificate_pem;
      ++joined_;
      join_next(connection);
    });
  }

  EventLoop& loop_;
  std::vector<Volunteer>& volunteers_;
  std::vector<std::unique_ptr<HttpsConnection>> connections_;
  std::size_t next_ = 0;
  std::size_t joined_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Result<std::vector<Volunteer>> join_volunteers(EventLoop& loop, const CoordinatorProcess& coordinator, int count) {
  std::vector<Volunteer> volunteers;
  for (int i = 0; i < count; ++i) volunteers.push_back({crypto::PrivateKey::generate(), ""});
  STARLING_TRY(Joiners(loop, coordinator, volunteers).run());
  return volunteers;
}

crypto::TlsContext tls_of(const CoordinatorProcess& coordinator, const Volunteer& volunteer) {
  auto tls = crypto::TlsContext::coordinator_client(coordinator.ca_pem(),
                                                    crypto::TlsIdentity{volunteer.certificate_pem, volunteer.key});
  VERIFY(tls.ok());
  return std::move(tls).value();
}

}  // namespace starling::bench
