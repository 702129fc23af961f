// Heartbeats through TLS, gate, core and SQLite, and the state after a restart.
#include <doctest/doctest.h>

#include "coordinator/api/run_report.h"
#include "shared/manifest/signed_report.h"
#include "shared/manifest/signed_statement.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/unusable_samples.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

// Two members of a running run, both at the first state.
struct Pair : TestProject {
  explicit Pair(db::RunState state = db::RunState::running) {
    REQUIRE(stores().training.runs.create(make_run("one", manifest_key, state)).ok());
    const std::string token = invite(2);
    for (TestVolunteer* volunteer : {&ada, &bob}) {
      REQUIRE(volunteer->join(token).ok());
      volunteer->beat.run_id = "one";
      volunteer->beat.phase = wire::MemberPhase::training;
      volunteer->beat.state_digest = state_of_round(0);
      volunteer->beat.listen_port = 4000;
    }
    deal_first_group(stores(), "one", members());
    REQUIRE(run().poll().ok());
  }
  [[nodiscard]] std::vector<PeerId> members() const { return {ada.key.peer_id(), bob.key.peer_id()}; }

  // Both report `round`, and are at the state after it.
  void finish(RoundIndex round, SampleCount samples = 30) {
    for (TestVolunteer* volunteer : {&ada, &bob}) {
      volunteer->beat.state_round = round + 1;
      volunteer->beat.state_digest = state_of_round(round + 1);
      volunteer->beat.reports.push_back(report_of(round, members(), samples));
      REQUIRE(volunteer->call().ok());
    }
  }
  // Calls until the rounds below `round` are acknowledged; a commit takes some milliseconds.
  void wait_until_acknowledged(RoundIndex round) {
    for (int tries = 0; tries < 2000; ++tries) {
      const auto reply = ada.call();
      REQUIRE(reply.ok());
      if (reply->acknowledged_rounds >= round) return;
    }
    FAIL("not acknowledged");
  }

  TestVolunteer ada{*this, "Ada"};
  TestVolunteer bob{*this, "Bob"};
};

}  // namespace

TEST_CASE("a round that both report is in the ledger once it is acknowledged") {
  Pair project;
  CHECK(project.ada.call()->state_digest == state_of_round(0));
  CHECK(project.bob.call()->lane == 1);
  project.finish(0, 35);
  project.wait_until_acknowledged(1);
  CHECK(project.stores().training.contributions.ledger_sum("one")->samples == 70);
  const auto reply = project.ada.call();
  CHECK(reply->round == 1);
  CHECK(reply->credited.samples == 35);
  CHECK(reply->credited.credit == doctest::Approx(0.35));
  CHECK(project.stores().credit.standings.volunteers_of("one", {})->front().totals.credit == 350'000);
  CHECK(project.stores().training.contributions.verify_totals().ok());
}

TEST_CASE("members say which of their samples can not be used, and nobody else does") {
  Pair project;
  const auto status_of = [](TestVolunteer& volunteer, const RunId& run_id) {
    return volunteer.post("/v1/unusable-samples", wire::encode(wire::UnusableSamples{run_id, 7, {1}}));
  };
  CHECK(status_of(project.ada, "one") == 200);
  CHECK(status_of(project.ada, "two") == 404);
  CHECK(project.ada.post("/v1/unusable-samples", R"({"run_id":"one","process":0,"draws":[1]})") == 400);
  const std::string told = wire::encode(wire::UnusableSamples{"one", 7, {1}});
  CHECK(project.stranger().post_json("/v1/unusable-samples", told)->status == 401);
}

TEST_CASE("credit that the operator takes back is taken back in the replies too, and later rounds count on") {
  Pair project;
  REQUIRE(project.ada.call().ok());
  REQUIRE(project.bob.call().ok());
  project.finish(0, 35);
  project.wait_until_acknowledged(1);
  REQUIRE(project.ada.call()->credited.samples == 35);
  db::CorrectionRequest wrong;
  wrong.account_id = project.stores().people.accounts.find_account_named("Ada")->id;
  wrong.reason = "a broken computer";
  wrong.now = project.clock.wall_now();
  REQUIRE(project.stores().credit.corrections.correct(wrong)->lines == 1);
  REQUIRE(project.run().poll().ok());
  project.finish(1, 20);  // its credit is counted after the sums were read again
  project.wait_until_acknowledged(2);
  CHECK(project.ada.call()->credited.samples == 20);
  CHECK(project.bob.call()->credited.samples == 55);
}

TEST_CASE("members see where the others listen") {
  Pair project;
  REQUIRE(project.ada.call().ok());
  project.bob.beat.state_digest = state_of_round(9);
  const auto reply = project.bob.call();
  REQUIRE(reply->donors.size() == 1);
  CHECK(reply->donors[0].peer == project.ada.key.peer_id());
  CHECK(reply->donors[0].host == "127.0.0.1");
  CHECK(reply->donors[0].port == 4000);
}

TEST_CASE("a restart goes on where the ledger is, with the same lanes") {
  Pair project;
  REQUIRE(project.bob.call().ok());
  REQUIRE(project.ada.call().ok());
  project.finish(0);
  project.finish(1);
  project.wait_until_acknowledged(2);
  project.restart();
  const auto reply = project.ada.call();
  CHECK(reply->round == 2);
  CHECK(reply->state_digest == state_of_round(2));
  CHECK(reply->acknowledged_rounds == 2);
  CHECK(reply->lane == 1);
  CHECK(reply->credited.samples == 60);
  CHECK(reply->run_state == wire::RunState::running);
  CHECK(project.bob.call()->lane == 0);
  CHECK(project.stores().training.contributions.ledger_sum("one")->samples == 120);
}

TEST_CASE("a full disk: serving goes on, nothing is acknowledged, nothing is lost") {
  Pair project;
  REQUIRE(project.bob.call().ok());
  REQUIRE(project.ada.call().ok());
  project.contributions.full = true;
  project.finish(0);
  for (int tries = 0; tries < 5000 && project.contributions.refused == 0; ++tries) REQUIRE(project.ada.call().ok());
  CHECK(project.contributions.refused > 0);
  const auto reply = project.ada.call();
  CHECK(reply->round == 1);
  CHECK(reply->acknowledged_rounds == 0);
  CHECK(reply->credited.samples == 0);
  project.contributions.full = false;
  project.wait_until_acknowledged(1);
  CHECK(project.stores().training.contributions.ledger_sum("one")->samples == 60);
}

TEST_CASE("a round that can never be stored is given up without credit, and the rounds behind it are stored") {
  Pair project;
  REQUIRE(project.bob.call().ok());
  REQUIRE(project.ada.call().ok());
  project.contributions.impossible = true;
  project.finish(0);
  project.wait_until_acknowledged(1);
  project.contributions.impossible = false;
  CHECK(project.contributions.refused == 1);
  CHECK(project.ada.call()->credited.samples == 0);
  project.finish(1);
  project.wait_until_acknowledged(2);
  CHECK(project.stores().training.contributions.ledger_sum("one")->samples == 60);
}

TEST_CASE("a coordinator that ends with a full disk forgets the round, and its members tell it again") {
  Pair project;
  REQUIRE(project.bob.call().ok());
  REQUIRE(project.ada.call().ok());
  project.contributions.full = true;
  project.finish(0);
  project.restart();
  project.contributions.full = false;
  CHECK(project.ada.call()->acknowledged_rounds == 0);
  REQUIRE(project.bob.call().ok());
  project.wait_until_acknowledged(1);
  CHECK(project.stores().training.contributions.ledger_sum("one")->samples == 60);
}

TEST_CASE("a coordinator that stands down serves nothing and stores nothing more, until it takes up the run anew") {
  Pair project;
  REQUIRE(project.bob.call().ok());
  REQUIRE(project.ada.call().ok());
  project.contributions.full = true;
  project.finish(0);
  for (int tries = 0; tries < 5000 && project.contributions.refused == 0; ++tries) REQUIRE(project.ada.call().ok());
  project.run().step_down();
  project.contributions.full = false;  // the entries to retry belong to a term that is over
  CHECK(project.ada.call().error().code == ErrorCode::unavailable);
  CHECK(project.stranger().get("/v1/run")->status == 503);
  REQUIRE(project.run().poll().ok());
  CHECK(project.ada.call()->acknowledged_rounds == 0);
  REQUIRE(project.bob.call().ok());
  project.wait_until_acknowledged(1);
  CHECK(project.stores().training.contributions.ledger_sum("one")->samples == 60);
}

TEST_CASE("who is not a member, or no longer, is refused") {
  Pair project;
  net::HttpClient stranger = project.stranger();
  CHECK(stranger.post_json("/v1/heartbeat", wire::encode(project.ada.beat))->status == 401);
  TestVolunteer eve(project, "Eve");  // has a certificate of the project, but no account
  eve.certificate = project.authority.issue(crypto::make_csr(eve.key), {.now = project.clock.wall_now()}).value();
  eve.beat = project.ada.beat;
  CHECK(eve.call().error().code == ErrorCode::unauthenticated);
  REQUIRE(project.stores().people.accounts.set_revoked(project.bob.key.peer_id(), true, db::Revoker::project).ok());
  project.restart();
  CHECK(project.bob.call().error().code == ErrorCode::permission_denied);
  CHECK(project.ada.call().ok());
}

TEST_CASE("a certificate of another project ends the connection") {
  Pair project;
  const auto other = crypto::CertificateAuthority::create("Other", project.clock.wall_now()).value();
  project.ada.certificate = other.issue(crypto::make_csr(project.ada.key), {.now = project.clock.wall_now()}).value();
  const auto reply = project.ada.call();
  REQUIRE_FALSE(reply.ok());
  CHECK(reply.error().code == ErrorCode::unauthenticated);
}

TEST_CASE("nonsense is answered with what is wrong") {
  Pair project;
  CHECK(project.ada.post("/v1/heartbeat", "{}") == 400);
  CHECK(project.ada.post("/v1/heartbeat", "\xff\xfe") == 400);
  CHECK(project.ada.post("/v1/heartbeat", std::string(wire::kJsonBytesMax + 1, ' ')) == 413);
  CHECK(project.ada.post("/v1/nothing", "{}") == 404);
  project.ada.beat.run_id = "another";
  const auto reply = project.ada.call();
  CHECK(reply.error().code == ErrorCode::not_found);
  CHECK(reply.error().message.find("'one' is") != std::string::npos);
  project.ada.beat.run_id = "one";
  project.ada.beat.reports = {report_of(0, project.members(), 1'000'000)};
  CHECK(project.ada.call()->notice.find("plausible") != std::string::npos);
}

TEST_CASE("a report counts for its sender, run and round alone, by its signature") {
  Pair project;
  const auto notice_of = [&](const wire::RoundReport& report) {
    wire::Heartbeat beat = project.ada.beat;
    beat.reports = {report};
    const auto reply = project.ada.send("/v1/heartbeat", wire::encode(beat));
    return wire::decode_heartbeat_reply(reply.body).value().notice;
  };
  wire::RoundReport report = report_of(0, project.members(), 35);
  CHECK(notice_of(report) == "the report of round 0 does not count: it is not signed");
  manifest::sign_report("another", project.ada.key, report);
  CHECK(notice_of(report) == "the report of round 0 does not count: its signature belongs to another report");
  manifest::sign_report("one", project.bob.key, report);
  CHECK(notice_of(report) == "the report of round 0 does not count: it is signed with another computer's key");
  manifest::sign_report("one", project.ada.key, report);
  wire::RoundReport replayed = report;
  replayed.round = 1;
  CHECK(notice_of(replayed) == "the report of round 1 does not count: its signature belongs to another report");
  CHECK(project.run().served()->swarm.round == 0);
  CHECK(notice_of(report).find("does not count") == std::string::npos);
  // None of these was a lie of Ada's or Bob's: both decide the round.
  project.finish(0, 35);
  project.wait_until_acknowledged(1);
}

TEST_CASE("a member that asks gets the proof of the state that it is told, after a restart, too") {
  Pair project;
  const auto proven = [&] {
    project.ada.beat.trust.state_proof_wanted = true;
    const auto reply = project.ada.call();
    REQUIRE(reply.ok());
    REQUIRE(reply->kept.state_proof.has_value());
    const auto states = manifest::verify_proof(*reply->kept.state_proof, "one", project.manifest_key.public_key());
    REQUIRE_MESSAGE(states.ok(), states.status().error().message);
    CHECK(states->path.back().round == reply->round);
    CHECK(states->path.back().digest == reply->state_digest);
    return *states;
  };
  CHECK(proven().path.size() == 1);
  for (RoundIndex round = 0; round < 3; ++round) project.finish(round, 35);
  project.wait_until_acknowledged(3);
  CHECK(proven().path.size() == 4);
  CHECK(proven().path.back().digest == state_of_round(3));
  project.restart();
  CHECK(proven().path.size() == 4);
  CHECK(proven().statement.cause == wire::StatementCause::start);
  project.ada.beat.trust.state_proof_wanted = false;
  CHECK_FALSE(project.ada.call()->kept.state_proof.has_value());
}

TEST_CASE("the operator's pause and start are told within a poll") {
  Pair project(db::RunState::paused);
  CHECK(project.ada.call()->run_state == wire::RunState::created);
  REQUIRE(project.stores().training.runs.set_state("one", db::RunState::running).ok());
  REQUIRE(project.run().poll().ok());
  CHECK(project.ada.call()->run_state == wire::RunState::running);
  REQUIRE(project.stores().training.runs.set_state("one", db::RunState::paused).ok());
  REQUIRE(project.run().poll().ok());
  CHECK(project.ada.call()->run_state != wire::RunState::running);
}

TEST_CASE("a run is served as soon as it exists, and another once that one runs instead") {
  TestProject project;
  net::HttpClient client = project.stranger();
  CHECK(client.get("/v1/run")->status == 404);
  CHECK(client.get("/v1/status")->status == 404);
  const db::Run one = make_run("one", project.manifest_key, db::RunState::paused);
  REQUIRE(project.stores().training.runs.create(one).ok());
  REQUIRE(project.run().poll().ok());
  CHECK(client.get("/v1/run")->body == one.manifest_envelope);
  REQUIRE(project.stores().training.runs.create(make_run("two", project.manifest_key, db::RunState::running)).ok());
  REQUIRE(project.run().poll().ok());
  CHECK(client.get("/v1/status")->body.find("\"run_id\":\"two\"") != std::string::npos);
}

TEST_CASE("what members compute on is counted for everybody, and named to the operator alone") {
  Pair project;
  project.ada.beat.computing.device = {.kind = "cuda", .name = "a card to remember"};
  REQUIRE(project.ada.call().ok());
  REQUIRE(project.bob.call().ok());
  const std::string body = project.stranger().get("/v1/status")->body;
  CHECK_MESSAGE(
      body.find(R"("trainers_on_processors":0,"trainers_on_cards":1,"trainers_untold":1)") != std::string::npos, body);
  CHECK(body.find("to remember") == std::string::npos);
  const core::DevicesInUse devices = project.run().devices();
  REQUIRE(devices.alike.size() == 1);
  CHECK(devices.alike.front().device.name == "a card to remember");
}

TEST_CASE("a manifest that the project did not sign is not served") {
  TestProject project;
  const db::Run forged = make_run("one", crypto::PrivateKey::generate(), db::RunState::running);
  REQUIRE(project.stores().training.runs.create(forged).ok());
  const Status polled = project.run().poll();
  REQUIRE_FALSE(polled.ok());
  CHECK(polled.error().message.find("'one'") != std::string::npos);
  CHECK_FALSE(project.run().served());
}

TEST_CASE("the run to serve is the one that runs") {
  std::vector<db::Run> runs(3);
  CHECK(choose_run({}, "") == nullptr);
  for (int i = 0; i < 3; ++i) runs[static_cast<std::size_t>(i)].run_id = std::string(1, static_cast<char>('a' + i));
  CHECK(choose_run(runs, "")->run_id == "c");
  CHECK(choose_run(runs, "b")->run_id == "b");
  runs[2].retired = runs[1].retired = {7};
  CHECK(choose_run(runs, "")->run_id == "a");
  CHECK(choose_run(runs, "b")->run_id == "a");
  runs[0].retired = {7};
  CHECK(choose_run(runs, "") == nullptr);
  CHECK(choose_run(runs, "b")->run_id == "b");  // its members learn of it
  for (db::Run& run : runs) run.retired = {};
  runs[0].state = db::RunState::running;
  CHECK(choose_run(runs, "b")->run_id == "a");
  runs[1].state = db::RunState::running;
  CHECK(choose_run(runs, "b")->run_id == "b");
}

}  // namespace starling::api::testing
