#include "tests/coordinator/server/server_harness.h"

#include <doctest/doctest.h>

#include "shared/base/files.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/signed_report.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/join.h"
#include "shared/swarm/successor.h"
#include "tests/support/free_port.h"

namespace starling::server::testing {
namespace {

Digest state_of_round(RoundIndex round) {
  Digest digest;
  digest.bytes.fill(static_cast<std::uint8_t>(10 + round));
  return digest;
}

}  // namespace

TestServer::TestServer(const std::string& database)
    : directory((folder / "project").string()), address("127.0.0.1:" + std::to_string(starling::testing::free_port())) {
  std::vector<std::string> words = {"init", directory, "--name", "Poems", "--listen", address};
  if (!database.empty()) words.insert(words.end(), {"--database", database});
  init = command(words);
}

Ended TestServer::command(std::vector<std::string> words) const {
  words.insert(words.begin(), STARLING_COORDINATOR);
  return run(words);
}

std::vector<std::string> TestServer::serve_command() const { return {STARLING_COORDINATOR, "serve", directory}; }

Ended TestServer::create_run(const std::string& run_id, const std::string& more) const {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i * 7919) + " ";
  REQUIRE(write_file_atomically(folder / "text.txt", text).ok());
  const std::string toml = "run_id = \"" + run_id + "\"\npeers_max = 16\ntarget_batch_size = 60\n" + more +
                           "[model]\nlayers = 1\nwidth = 16\nheads = 1\ncontext = 16\n"
                           "[data]\ntrain = \"text.txt\"\nvalidation_fraction = 0.1\nsampling = \"independent\"\n";
  REQUIRE(write_file_atomically(folder / "manifest.toml", toml).ok());
  return command({"run", "create", directory, (folder / "manifest.toml").string()});
}

std::string TestServer::passphrase_file() const {
  const std::filesystem::path file = folder / "passphrase";
  REQUIRE(write_file_atomically(file, "correct horse battery\n").ok());
  return file.string();
}

Ended TestServer::back_up_with_keys(const std::string& to) const {
  return command({"backup", "now", directory, to, "--with-keys", "--passphrase-file", passphrase_file()});
}

Ended TestServer::restore_with_keys(const std::string& backup, const std::string& to) const {
  return command({"restore", backup, to, "--passphrase-file", passphrase_file()});
}

net::HttpResponse TestServer::get(const std::string& path, int port) const {
  if (port == 0) port = std::stoi(address.substr(address.find(':') + 1));
  const auto ca_pem = read_file(std::filesystem::path(directory) / "ca.pem", 64 * 1024);
  REQUIRE(ca_pem.ok());
  auto tls = crypto::TlsContext::coordinator_client(*ca_pem, std::nullopt);
  REQUIRE(tls.ok());
  net::HttpClient client({"127.0.0.1", static_cast<std::uint16_t>(port)}, std::move(*tls));
  auto response = client.get(path);
  REQUIRE_MESSAGE(response.ok(), response.status().error().message);
  return std::move(*response);
}

bool eventually(const std::function<bool()>& so) {
  constexpr int kTries = 5000;
  for (int i = 0; i < kTries; ++i) {
    if (so()) return true;
  }
  return false;
}

Status Member::join(const std::string& link) {
  STARLING_ASSIGN(link_, manifest::parse_join_link(link));
  STARLING_ASSIGN(ca_pem_, net::fetch_pinned_ca({link_.host, link_.port}, link_.ca_fingerprint));
  STARLING_ASSIGN(auto tls, crypto::TlsContext::coordinator_client(ca_pem_, std::nullopt));
  net::HttpClient client({link_.host, link_.port}, std::move(tls));
  wire::JoinRequest request;
  request.invite = link_.invite;
  request.display_name = name_;
  request.csr_pem = crypto::make_csr(key_);
  STARLING_ASSIGN(auto response, client.post_json("/v1/join", wire::encode(request)));
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(response)));
  STARLING_ASSIGN(const auto reply, wire::decode_join_reply(body));
  certificate_ = reply.certificate_pem;
  manifest_key_ = reply.manifest_public_key;
  return {};
}

Result<wire::HeartbeatReply> Member::call() {
  for (wire::RoundReport& report : beat.reports) manifest::sign_report(beat.run_id, key_, report);
  if (!challenge_.is_zero()) {
    beat.trust.holding = wire::HoldingProof{challenge_, crypto::sha256(challenge_.hex() + beat.state_digest.hex())};
  }
  const crypto::TlsIdentity identity{certificate_, key_};
  STARLING_ASSIGN(auto tls, crypto::TlsContext::coordinator_client(ca_pem_, identity));
  net::HttpClient client({link_.host, link_.port}, std::move(tls));
  STARLING_ASSIGN(auto response, client.post_json("/v1/heartbeat", wire::encode(beat)));
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(response)));
  auto reply = wire::decode_heartbeat_reply(body);
  if (reply.ok()) challenge_ = reply->kept.challenge;
  return reply;
}

Two::Two() {
  for (Member* member : {&ada, &bob}) {
    member->beat.run_id = "one";
    member->beat.phase = wire::MemberPhase::training;
    member->beat.state_digest = state_of_round(0);
  }
}

wire::GroupInfo Two::dealt() {
  // Both hold the first state and have computed before the batch is full, so that both are in the plan.
  for (const double samples_per_s : {0.0, 1000.0}) {
    for (int tries = 0; tries < 500; ++tries) {
      for (Member* member : {&ada, &bob}) {
        member->beat.listen_port = 4000;
        member->beat.batch_seconds = 0.01;
        member->beat.samples_per_s = samples_per_s;
        member->beat.samples_this_round = samples_per_s > 0 ? 30 : 0;
        const auto reply = member->call();
        if (!reply.ok()) continue;
        member->beat.state_digest = reply->state_digest;
        // No plan has room for one that is to measure the state.
        if (reply->evaluate_round) member->beat.evaluation = {*reply->evaluate_round, 4.5, 1000};
        if (reply->group && reply->group->members.size() == 2) return *reply->group;
      }
      if (samples_per_s == 0 && tries > 0) break;
    }
  }
  FAIL("no group was dealt");
  return {};
}

void Two::finish_round() {
  if (group_) {
    group_ = swarm::plan_successor(*group_, std::vector<SampleCount>{1, 1}, ada.beat.state_digest);
  } else {
    group_ = dealt();
  }
  wire::RoundReport report;
  report.round = round;
  report.group = group_->id;
  for (const wire::GroupMember& member : group_->members) report.members.push_back(member.endpoint.peer);
  report.contributions = {{ada.peer(), 40}, {bob.peer(), 20}};
  report.base_digest = ada.beat.state_digest;
  report.state_digest = state_of_round(++round);
  for (Member* member : {&ada, &bob}) {
    member->beat.reports.push_back(report);
    member->beat.state_round = round;
    member->beat.state_digest = report.state_digest;
    member->beat.samples_per_s = 0;
    member->beat.samples_this_round = 0;
    member->beat.evaluation.reset();
  }
}

void Two::settle() {
  std::string problem = "the store has not taken them";
  for (int tries = 0; tries < 2000; ++tries) {
    bool settled = true;
    for (Member* member : {&ada, &bob}) {
      const auto reply = member->call();
      if (!reply.ok()) {  // on a busy machine a leader may have to be chosen again: members repeat the call
        problem = reply.error().message;
        settled = false;
        continue;
      }
      std::erase_if(member->beat.reports,
                    [&](const auto& report) { return report.round < reply->acknowledged_rounds; });
      settled = settled && member->beat.reports.empty();
    }
    if (settled) return;
  }
  FAIL("reports were not acknowledged: ", problem);
}

namespace {

std::string start_run(const TestServer& server) {
  REQUIRE(server.create_run("one").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  return server.command({"invite", "new", server.directory, "--uses", "2"}).last_line();
}

}  // namespace

ServedRun::ServedRun(const TestServer& server) : link(start_run(server)), process(server.serve_command()) {
  REQUIRE(process.wait_for("listening on"));
  REQUIRE(two.ada.join(link).ok());
  REQUIRE(two.bob.join(link).ok());
}

}  // namespace starling::server::testing
