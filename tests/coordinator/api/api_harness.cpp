#include "tests/coordinator/api/api_harness.h"

#include <doctest/doctest.h>

#include "shared/crypto/digest.h"
#include "shared/crypto/secrets.h"
#include "shared/crypto/tls.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/manifest/signed_report.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/successor.h"

namespace starling::api::testing {
namespace {

crypto::CertificateAuthority new_authority() {
  return crypto::CertificateAuthority::create("Test", SystemClock().wall_now()).value();
}

crypto::TlsContext server_context(const crypto::CertificateAuthority& authority) {
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  const WallTime now = SystemClock().wall_now();
  const std::string certificate = authority.issue_server(key.public_key(), {.now = now, .hosts = {}}).value();
  return crypto::TlsContext::coordinator_server(authority.certificate_pem(), {certificate, key}).value();
}

constexpr SampleCount kSamplesMax = 1000;  // credited to a member in a round

swarm::Seating first_group(const std::vector<PeerId>& members) {
  swarm::Seating seating;
  seating.id.bytes.fill(100);
  for (const PeerId& member : members) seating.seats.push_back({member});
  return seating;
}

Digest digest_of(std::uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

db::Stores with_contributions(const db::Stores& stores, db::ContributionStore& contributions) {
  const db::TrainingStores& kept = stores.training;
  const db::TrainingStores training{kept.runs,        contributions, kept.evaluations, kept.lanes,      kept.leases,
                                    kept.electorates, kept.chains,   kept.artefacts,   kept.checkpoints};
  return {stores.people, training, stores.credit, stores.operation};
}

}  // namespace

db::Run make_run(const RunId& run_id, const crypto::PrivateKey& manifest_key, db::RunState state,
                 RoundIndex checkpoint_rounds) {
  wire::RunManifest manifest;
  manifest.run_id = run_id;
  manifest.title = "A test";
  manifest.model.layers = 1;
  manifest.model.width = 16;
  manifest.model.heads = 1;
  manifest.model.context = 16;
  manifest.data.train = {digest_of(1), 1'000'000};
  manifest.data.validation = {digest_of(2), 1'000};
  manifest.data.sampling = wire::Sampling::independent;  // reports name samples that nobody has leased
  manifest.checkpoint_rounds = checkpoint_rounds;
  manifest.target_batch_size = kTarget;
  manifest.flops_per_sample = 4.32e9;  // 100 samples are a credit
  manifest.initial_state_digest = state_of_round(0);
  db::Run run;
  run.run_id = run_id;
  run.manifest_envelope = manifest::encode_envelope(manifest::sign_manifest(manifest, manifest_key).value());
  run.state = state;
  run.created = SystemClock().wall_now();
  return run;
}

Result<db::AppendOutcome> FillableContributions::append(const db::RoundResult& result) {
  if (full) {
    ++refused;
    return Error{ErrorCode::resource_exhausted, "write 'coordinator.db': the disk is full"};
  }
  if (impossible) {
    ++refused;
    return Error{ErrorCode::failed_precondition, "database 'coordinator.db': FOREIGN KEY constraint failed"};
  }
  return real_.append(result);
}

Status FillableContributions::append_async(db::RoundResult result, Appended done) {
  return real_.append_async(std::move(result), std::move(done));
}

TestProject::TestProject(accounts::Policy policy)
    : authority(new_authority()),
      database(db::Database::open(folder / "test.db", {.create = true, .ballast_bytes = 0}).value()),
      contributions(database->stores().training.contributions),
      bans(database->stores().operation.bans, clock),
      policy_(policy),
      stores_(with_contributions(database->stores(), contributions)),
      tls_(server_context(authority)) {
  start();
}

TestProject::~TestProject() { stop(); }

void TestProject::start() {
  hosts_ = std::make_unique<HostTable>(stores_.people.accounts, clock);
  denied_ = std::make_unique<DenyList>(stores_.people.accounts, bans, clock);
  run_ = std::make_unique<RunService>(RunService::Parts{stores_, *hosts_, clock, manifest_key.public_key(),
                                                        [this] { return manifest::SigningKey(manifest_key); }});
  REQUIRE(run_->poll().ok());
  accounts_ = std::make_unique<accounts::Accounts>(accounts::Accounts::Parts{"Test",
                                                                             "https://test.example",
                                                                             policy_,
                                                                             stores_,
                                                                             bans,
                                                                             outbox_,
                                                                             clock,
                                                                             "a secret of the test's",
                                                                             {.hash_log2_n = 8}});
  api_ =
      std::make_unique<Api>(Api{"Test", folder.path(), manifest_key.public_key().to_pem(), authority, stores_, *hosts_,
                                *denied_, *accounts_, joins_, calls_, *run_, checkpoints_, maintenance_, clock});
  router_ = std::make_unique<gate::Router>();
  add_routes(*router_, *api_);
  gate::GateOptions options;
  options.address = "127.0.0.1";
  options.workers = 2;
  options.limits.body_bytes_max = wire::kJsonBytesMax;
  gate_ = gate::Gate::create(options, tls_, *router_).value();
  port = gate_->port();
  thread_ = std::thread([this] { CHECK(gate_->run().ok()); });
}

void TestProject::stop() {
  gate_->stop();
  thread_.join();
  gate_.reset();
  router_.reset();
  api_.reset();
  accounts_.reset();
  run_.reset();
}

void TestProject::look() {
  REQUIRE(hosts_->refresh().ok());
  REQUIRE(bans.refresh().ok());
  REQUIRE(denied_->refresh().ok());
}

void TestProject::restart() {
  stop();
  start();
}

std::string TestProject::invite(std::int64_t uses, std::int64_t lifetime_ms) {
  const std::string token = crypto::make_token();
  const WallTime now = clock.wall_now();
  REQUIRE(stores_.people.invites.add({crypto::hash_token(token), now, {now.unix_ms + lifetime_ms}, uses, 0}).ok());
  return token;
}

net::HttpClient TestProject::stranger() const {
  return {{"127.0.0.1", port},
          crypto::TlsContext::coordinator_client(authority.certificate_pem(), std::nullopt).value()};
}

Result<wire::JoinReply> TestVolunteer::join(const std::string& invite, const std::string& password) {
  wire::JoinRequest request;
  request.client_version = "0.1.0";
  request.invite = invite;
  request.display_name = name_;
  request.password = password;
  request.csr_pem = crypto::make_csr(key);
  request.device_token = device_token;
  net::HttpClient client = project_.stranger();
  STARLING_ASSIGN(auto response, client.post_json("/v1/join", wire::encode(request)));
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(response)));
  auto reply = wire::decode_join_reply(body);
  if (reply.ok()) certificate = reply->certificate_pem;
  return reply;
}

Result<wire::HeartbeatReply> TestVolunteer::call() {
  for (wire::RoundReport& report : beat.reports) {
    if (!report.signature) manifest::sign_report(beat.run_id, key, report);
  }
  if (!challenge.is_zero()) {
    beat.trust.holding = wire::HoldingProof{challenge, crypto::sha256(challenge.hex() + beat.state_digest.hex())};
  }
  const crypto::TlsIdentity identity{certificate, key};
  STARLING_ASSIGN(auto tls, crypto::TlsContext::coordinator_client(project_.authority.certificate_pem(), identity));
  net::HttpClient client({"127.0.0.1", project_.port}, std::move(tls));
  STARLING_ASSIGN(auto response, client.post_json("/v1/heartbeat", wire::encode(beat)));
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(response)));
  auto reply = wire::decode_heartbeat_reply(body);
  if (reply.ok()) challenge = reply->kept.challenge;
  return reply;
}

net::HttpResponse TestVolunteer::send(const std::string& path, std::string_view body) {
  const crypto::TlsIdentity identity{certificate, key};
  net::HttpClient client(
      {"127.0.0.1", project_.port},
      crypto::TlsContext::coordinator_client(project_.authority.certificate_pem(), identity).value());
  return client.post_bytes(path, body).value();
}

int TestVolunteer::post(const std::string& path, const std::string& body) {
  const crypto::TlsIdentity identity{certificate, key};
  net::HttpClient client(
      {"127.0.0.1", project_.port},
      crypto::TlsContext::coordinator_client(project_.authority.certificate_pem(), identity).value());
  return client.post_json(path, body).value().status;
}

Digest state_of_round(RoundIndex round) { return digest_of(static_cast<std::uint8_t>(10 + round)); }

void deal_first_group(const db::Stores& stores, const RunId& run_id, const std::vector<PeerId>& members) {
  db::SeatedGroup group{first_group(members).id, 0, true, kSamplesMax};
  for (const PeerId& member : members) {
    group.seats.push_back({0, member, stores.people.accounts.find_host(member).value().account_id, 0});
  }
  REQUIRE(stores.training.electorates.add(run_id, group, 0).ok());
}

wire::RoundReport report_of(RoundIndex round, const std::vector<PeerId>& members, SampleCount samples) {
  swarm::Seating seating = first_group(members);
  const std::vector<bool> all(members.size(), true);
  while (seating.round < round) seating = swarm::succeed(seating, all, state_of_round(seating.round + 1));
  wire::RoundReport report;
  report.round = round;
  report.group = seating.id;
  report.members = members;
  for (const PeerId& member : members) report.contributions.push_back({member, samples});
  report.base_digest = state_of_round(round);
  report.state_digest = state_of_round(round + 1);
  report.loss = 2.5;
  return report;
}

}  // namespace starling::api::testing
