// A run whose model is cut into cells, through TLS, gate, cores and SQLite.
#include <doctest/doctest.h>

#include "shared/manifest/signed_manifest.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/cells.h"
#include "shared/state/initial_state.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

wire::RunManifest cut_run() {
  wire::RunManifest manifest;
  manifest.run_id = "fox";
  manifest.model = {.architecture = wire::Architecture::decoder, .layers = 2, .width = 16, .heads = 2, .context = 8};
  manifest.model.mlp_width = 24;
  manifest.model.experts.rows = 4;
  manifest.model.experts.cells.experts = 2;
  manifest.data.train = {{}, 1'000'000};
  manifest.data.train.sha256.bytes.fill(1);
  manifest.data.validation = {{}, 10'000};
  manifest.data.validation.sha256.bytes.fill(2);
  manifest.target_batch_size = kTarget;
  manifest.peers_max = 8;
  manifest.flops_per_sample = wire::flops_per_sample(manifest.model);
  for (wire::CellIndex cell = 0; cell < 4; ++cell) {
    manifest.model.experts.cells.digests.push_back(state::initial_state_digest(wire::piece_of(manifest, cell)));
  }
  manifest.initial_state_digest = state::initial_state_digest(wire::piece_of(manifest, wire::kTrunk));
  return manifest;
}

// Two volunteers of different accounts, each with room for `cells` of the four cells.
struct Cut : TestProject {
  explicit Cut(int cells = 4) {
    const auto envelope = manifest::sign_manifest(manifest, {manifest_key, ""});
    REQUIRE(envelope.ok());
    db::Run run;
    run.run_id = "fox";
    run.manifest_envelope = manifest::encode_envelope(*envelope);
    run.state = db::RunState::running;
    REQUIRE(stores().training.runs.create(run, {"fox.c0", "fox.c1", "fox.c2", "fox.c3"}).ok());
    for (TestVolunteer* volunteer : {&ada, &bob}) {
      REQUIRE(volunteer->join(invite()).ok());
      volunteer->beat.run_id = "fox";
      volunteer->beat.phase = wire::MemberPhase::training;
      volunteer->beat.state_digest = manifest.initial_state_digest;
      volunteer->beat.listen_port = 4000;
      volunteer->beat.computing.cells = wire::CellOffer{cells * wire::held_bytes(manifest, 0), {}, 0};
    }
    REQUIRE(this->run().poll().ok());
  }

  // A call about the run: takes over the cells that are dealt, and the table.
  wire::HeartbeatReply call(TestVolunteer& volunteer) {
    auto reply = volunteer.call();
    REQUIRE(reply.ok());
    REQUIRE(reply->named.cells.has_value());
    volunteer.beat.computing.cells->held = reply->named.cells->hold;
    if (reply->named.cells->table) volunteer.beat.computing.cells->table = reply->named.cells->table->number;
    return *reply;
  }
  // A call about a cell of which the volunteer has this state.
  Result<wire::HeartbeatReply> call_about(TestVolunteer& volunteer, wire::CellIndex cell, const Digest& digest) {
    wire::Heartbeat of_run = volunteer.beat;
    volunteer.beat.run_id = wire::cell_run_id("fox", cell);
    volunteer.beat.state_digest = digest;
    volunteer.beat.computing.cells.reset();
    auto reply = volunteer.call();
    volunteer.beat = of_run;
    return reply;
  }
  // Both report a round of the cell to which each has brought these samples, and it is stored.
  void finish(wire::CellIndex cell, RoundIndex round, SampleCount samples) {
    wire::RoundReport report = report_of(round, {ada.key.peer_id(), bob.key.peer_id()}, samples);
    if (round == 0) report.base_digest = first_state(cell);
    for (TestVolunteer* volunteer : {&ada, &bob}) {
      volunteer->beat.reports = {report};
      volunteer->beat.state_round = round + 1;
      REQUIRE(call_about(*volunteer, cell, report.state_digest).ok());
    }
    for (int tries = 0; tries < 2000; ++tries) {
      const auto reply = call_about(ada, cell, report.state_digest);
      REQUIRE(reply.ok());
      if (reply->acknowledged_rounds > round) break;
    }
    for (TestVolunteer* volunteer : {&ada, &bob}) {
      volunteer->beat.reports.clear();
      volunteer->beat.state_round = 0;
    }
  }
  // Samples of the cell's round that the volunteer is credited with.
  SampleCount credited(const TestVolunteer& volunteer, wire::CellIndex cell, RoundIndex round) {
    SampleCount samples = 0;
    const auto lines = stores().training.contributions.of_round(wire::cell_run_id("fox", cell), round);
    REQUIRE(lines.ok());
    for (const db::Contribution& line : *lines) {
      if (line.peer_id == volunteer.key.peer_id()) samples += line.samples;
    }
    return samples;
  }
  [[nodiscard]] Digest first_state(wire::CellIndex cell) const {
    return manifest.model.experts.cells.digests[static_cast<std::size_t>(cell)];
  }
  wire::RunManifest manifest = cut_run();
  TestVolunteer ada{*this, "Ada"};
  TestVolunteer bob{*this, "Bob"};
};

}  // namespace

TEST_CASE("volunteers are dealt cells, and hear who holds their states") {
  Cut project;
  CHECK(project.call(project.ada).named.cells->hold == std::vector<wire::CellIndex>{0, 1, 2, 3});
  CHECK(project.call(project.bob).named.cells->hold.size() == 4);
  for (wire::CellIndex cell = 0; cell < 4; ++cell) {
    const auto reply = project.call_about(project.ada, cell, project.first_state(cell));
    REQUIRE(reply.ok());
    CHECK(reply->state_digest == project.first_state(cell));
    CHECK(reply->run_state == wire::RunState::running);
  }
  REQUIRE(project.call_about(project.bob, 2, project.first_state(2)).ok());
  const auto told = project.call(project.bob).named.cells;
  REQUIRE(told->table.has_value());
  REQUIRE(told->table->cells.size() == 4);
  CHECK(told->table->members.size() == 2);
  CHECK(told->table->cells[2].members.size() == 2);
  CHECK(told->table->cells[3].members.size() == 1);
  CHECK_FALSE(project.call(project.bob).named.cells->table);  // it has it
}

TEST_CASE("a cell is a run beside its own: with rounds, a ledger and a signed first state") {
  Cut project(1);
  const std::vector<PeerId> members{project.ada.key.peer_id(), project.bob.key.peer_id()};
  CHECK_FALSE(project.call_about(project.ada, 5, {}).ok());
  deal_first_group(project.stores(), "fox.c1", members);
  project.restart();
  REQUIRE(project.run().poll().ok());
  for (TestVolunteer* volunteer : {&project.ada, &project.bob}) {
    REQUIRE(project.call_about(*volunteer, 1, project.first_state(1)).ok());
  }
  const auto refused = project.call_about(project.ada, 1, state_of_round(9));
  REQUIRE(refused.ok());
  CHECK(refused->state_digest == project.first_state(1));  // nobody else's first state counts
  CHECK(project.stores().training.runs.list()->size() == 1);
  CHECK(project.stores().training.runs.find("fox.c1")->manifest_envelope.empty());
  CHECK(project.run().served()->manifest.model.experts.piece == wire::kWholeModel);
  REQUIRE(project.stores().training.runs.set_state("fox", db::RunState::paused).ok());
  REQUIRE(project.run().poll().ok());
  CHECK(project.call_about(project.ada, 1, project.first_state(1))->run_state == wire::RunState::paused);
}

TEST_CASE("who is too small for the trunk holds cells, gets no donors, and calls in its own time") {
  Cut project(4);
  project.bob.beat.phase = wire::MemberPhase::holding;
  project.bob.beat.state_digest = {};
  CHECK(project.call(project.ada).named.cells->hold.size() == 4);
  const auto reply = project.call(project.bob);
  CHECK(reply.named.cells->hold.size() == 4);
  CHECK(reply.donors.empty());
  CHECK_FALSE(reply.kept.checkpoint);
  CHECK_FALSE(reply.group);
  CHECK(reply.next_heartbeat_ms == 1000);
  CHECK(reply.swarm.size == 2);
}

TEST_CASE("holders earn what callers confirm, and some rounds ahead of it") {
  Cut project(1);
  const std::vector<PeerId> members{project.ada.key.peer_id(), project.bob.key.peer_id()};
  deal_first_group(project.stores(), "fox.c1", members);
  project.restart();
  REQUIRE(project.run().poll().ok());
  project.finish(1, 0, 100);
  CHECK(project.credited(project.ada, 1, 0) == 100);
  project.finish(1, 1, 100);
  CHECK(project.credited(project.ada, 1, 1) == 3 * kTarget - 100);
  CHECK(project.credited(project.bob, 1, 1) == 3 * kTarget - 100);
  project.ada.beat.computing.receipts = wire::CallReceipts{5, {{members[1], 3, {{1, 50}}}}};
  for (int i = 0; i < 2; ++i) project.call(project.ada);  // the second one as if its reply had been lost
  project.ada.beat.computing.receipts.reset();
  project.finish(1, 2, 100);
  CHECK(project.credited(project.ada, 1, 2) == 0);
  CHECK(project.credited(project.bob, 1, 2) == 50);
  // Claims are written beside the rounds, and maybe after them.
  SampleCount unconfirmed = 0;
  for (int tries = 0; tries < 2000 && unconfirmed < 2 * 20 + 100 + 50; ++tries) {
    project.call(project.bob);
    const auto claims = project.stores().credit.claims.list({});
    REQUIRE(claims.ok());
    unconfirmed = 0;
    for (const db::UnconfirmedClaim& claim : *claims) unconfirmed += claim.samples;
  }
  CHECK(unconfirmed == 2 * 20 + 100 + 50);
}

}  // namespace starling::api::testing
