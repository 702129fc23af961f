// A whole project on loopback: real TLS, gate, routes and SQLite; only the files are temporary.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "coordinator/api/api.h"
#include "coordinator/gate/gate.h"
#include "db/stores/database.h"
#include "shared/crypto/keys.h"
#include "shared/net/http_client.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/join.h"
#include "tests/support/temp_dir.h"

namespace starling::wire {
struct HeartbeatReply;
}

namespace starling::api::testing {

constexpr SampleCount kTarget = 60;

// A signed run with that id, in the given state.
db::Run make_run(const RunId& run_id, const crypto::PrivateKey& manifest_key, db::RunState state,
                 RoundIndex checkpoint_rounds = 0);

// Passes contributions on to a real store, unless a test declares the disk full or the contributions impossible to
// store.
class FillableContributions final : public db::ContributionStore {
 public:
  explicit FillableContributions(db::ContributionStore& real) : real_(real) {}
  Result<db::AppendOutcome> append(const db::RoundResult& result) override;
  Status append_async(db::RoundResult result, Appended done) override;
  Result<std::vector<db::Contribution>> of_round(const RunId& run_id, RoundIndex round) const override {
    return real_.of_round(run_id, round);
  }
  Result<db::Totals> ledger_sum(const RunId& run_id) const override { return real_.ledger_sum(run_id); }
  Status verify_totals() const override { return real_.verify_totals(); }
  Result<std::vector<db::LedgerEntry>> entries_of(AccountId account, const db::Page& page) const override {
    return real_.entries_of(account, page);
  }
  std::atomic<bool> full = false;
  std::atomic<bool> impossible = false;
  std::atomic<int> refused = 0;

 private:
  db::ContributionStore& real_;
};

class TestProject {
 public:
  explicit TestProject(accounts::Policy policy = {});
  ~TestProject();

  // The token of a new invite.
  std::string invite(std::int64_t uses = 1, std::int64_t lifetime_ms = 60'000);
  // A client without a certificate.
  [[nodiscard]] net::HttpClient stranger() const;
  // Ends the service and starts another one on the same database, as a restart does.
  void restart();
  // Reads changes that others made to the database, as the server does several times a second.
  void look();

  [[nodiscard]] const db::Stores& stores() const { return stores_; }
  [[nodiscard]] RunService& run() { return *run_; }
  [[nodiscard]] const Api& api() const { return *api_; }
  [[nodiscard]] accounts::Accounts& accounts() { return *accounts_; }

  starling::testing::TempDir folder;
  SystemClock clock;
  crypto::CertificateAuthority authority;
  crypto::PrivateKey manifest_key = crypto::PrivateKey::generate();
  std::unique_ptr<db::Database> database;
  FillableContributions contributions;
  accounts::BanList bans;
  std::uint16_t port = 0;

 private:
  void start();
  void stop();

  accounts::Policy policy_;
  accounts::KeyedLimiter joins_{1, clock.now(), kJoinLimits};
  CallLimits calls_{1, clock.now()};
  CheckpointInbox checkpoints_{folder.path()};
  operations::MaintenanceSign maintenance_;
  db::Stores stores_;
  accounts::NoOutbox outbox_;
  crypto::TlsContext tls_;
  std::unique_ptr<HostTable> hosts_;
  std::unique_ptr<DenyList> denied_;
  std::unique_ptr<RunService> run_;
  std::unique_ptr<accounts::Accounts> accounts_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<gate::Router> router_;
  std::unique_ptr<gate::Gate> gate_;
  std::thread thread_;
};

// A computer that joins and sends heartbeats.
class TestVolunteer {
 public:
  TestVolunteer(TestProject& project, std::string name) : project_(project), name_(std::move(name)) {}

  // The reply to a join with this invite; keeps the certificate.
  Result<wire::JoinReply> join(const std::string& invite, const std::string& password = "");
  // Signs the reports that are not signed yet.
  Result<wire::HeartbeatReply> call();
  // The HTTP status for any body.
  int post(const std::string& path, const std::string& body);
  net::HttpResponse send(const std::string& path, std::string_view body);

  crypto::PrivateKey key = crypto::PrivateKey::generate();
  std::string device_token;  // none at first
  wire::Heartbeat beat;
  Hash128 challenge;  // the last reply's, which the next call answers
  std::string certificate;

 private:
  TestProject& project_;
  std::string name_;
  std::unique_ptr<net::HttpClient> client_;
};

// These members are dealt a group for round 0, by a coordinator before the one that is started next.
void deal_first_group(const db::Stores& stores, const RunId& run_id, const std::vector<PeerId>& members);
// A report of that group, or of the one that follows from it when all members bring something to every round.
wire::RoundReport report_of(RoundIndex round, const std::vector<PeerId>& members, SampleCount samples);
Digest state_of_round(RoundIndex round);

}  // namespace starling::api::testing
