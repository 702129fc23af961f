// A project of its own and members with real certificates, for tests over real TLS on loopback.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "client/transport/peer_network.h"
#include "shared/crypto/certificates.h"

namespace starling::transport::testing {

constexpr const char* kRun = "test-run";
// A round or transfer that takes longer has hung. No test waits for this time to pass.
constexpr std::chrono::seconds kPatience{60};

class Project {
 public:
  Project();
  [[nodiscard]] crypto::TlsIdentity identity(const crypto::PrivateKey& key, const crypto::IssueOptions& options) const;
  [[nodiscard]] crypto::TlsIdentity identity(const crypto::PrivateKey& key) const;  // valid now
  [[nodiscard]] crypto::TlsContext context(const crypto::TlsIdentity& identity) const;
  [[nodiscard]] const std::string& ca_pem() const { return ca_.certificate_pem(); }

 private:
  crypto::CertificateAuthority ca_;
};

// PeerNetworkOptions for this peer on 127.0.0.1.
PeerNetworkOptions options_for(const PeerId& id, bool listens = true);

// Polls until the condition holds; fails the test after kPatience.
void wait_until(const std::function<bool()>& condition);

// One volunteer. Move-only; its network ends with it, or by leave().
struct Member {
  explicit Member(const Project& project, bool listens = true, StateSource source = nullptr);
  Member(PeerNetworkOptions options, crypto::PrivateKey own_key, crypto::TlsContext tls, StateSource source);

  [[nodiscard]] wire::Endpoint endpoint() const;
  void leave() { net.reset(); }

  crypto::PrivateKey key;
  PeerId id;
  SystemClock clock;
  std::unique_ptr<PeerNetwork> net;
};

using Members = std::vector<std::unique_ptr<Member>>;
Members make_members(const Project& project, std::size_t count);

// A plan of equal parts among the members that can be dialled. Ranks are in the given order.
wire::GroupInfo plan_of(const std::vector<wire::Endpoint>& endpoints, std::int64_t floats, std::int64_t round = 0);
wire::GroupInfo plan_of(const Members& members, std::int64_t floats, std::int64_t round = 0);

// One member's part in a round: its input, and the outcome when it comes. Must not move while the round lasts.
struct Seat {
  Seat(const wire::GroupInfo& group, averaging::Rank rank, SampleCount weight);

  // The round begins `delay` from now.
  Status start(Member& member, Duration delay = {});
  // Fails the test when it takes longer than kPatience.
  averaging::AveragingOutcome wait();
  // The value of a member's input at a position.
  static float value(averaging::Rank rank, std::size_t position);

  wire::GroupInfo group;
  averaging::Rank rank;
  SampleCount weight;
  std::vector<float> input;
  std::vector<float> output;
  averaging::AllReduceOptions engine;
  bool follows = false;
  bool mixes = false;          // a gossip averaging instead of a round
  std::size_t bucket = 0;      // the bucket of that
  std::function<void()> then;  // runs where the outcome is reported
  std::promise<averaging::AveragingOutcome> promise;
  std::future<averaging::AveragingOutcome> outcome = promise.get_future();
};

using Seats = std::vector<std::unique_ptr<Seat>>;
// Everyone's seat, rank r with weight r + 1.
Seats seats_of(const wire::GroupInfo& group);
// The exact weighted mean at `position` over `ranks` (weight r + 1 each): small integers, so exact in fp32.
float mean_of(const std::vector<averaging::Rank>& ranks, std::size_t position);

// Runs a whole round among `members` and checks that everyone holds the exact mean.
void check_exact_round(Members& members, const wire::GroupInfo& group);

}  // namespace starling::transport::testing
