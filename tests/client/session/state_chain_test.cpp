#include "client/session/state_chain.h"

#include <doctest/doctest.h>

#include "shared/base/files.h"
#include "shared/base/log.h"
#include "tests/client/session/session_fixture.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::session;

namespace {

// A proof whose signatures are taken for right: the path stands in the links' digests.
wire::StateProof proof_of(RoundIndex from, const std::vector<Digest>& path) {
  wire::StateProof proof;
  proof.statement = "statement";
  for (std::size_t i = 0; i < path.size(); ++i) {
    wire::StateLink link;
    link.round = from + static_cast<RoundIndex>(i);
    link.state_digest = path[i];
    proof.links.push_back(link);
  }
  return proof;
}

struct Trust {
  std::int64_t serial = 10;
  wire::StatementCause cause = wire::StatementCause::advance;
  bool authentic = true;
  std::vector<KnownState> remembered;

  StateTrust make(KnownState known = {}) {
    const auto verify = [this](const wire::StateProof& proof) -> Result<manifest::ProvenStates> {
      if (!authentic) return Error{ErrorCode::permission_denied, "it is signed with another key"};
      manifest::ProvenStates proven;
      for (const wire::StateLink& link : proof.links) proven.path.push_back({link.round, link.state_digest});
      proven.statement = {"run", proof.links.front().round, proof.links.front().state_digest, serial, cause};
      return proven;
    };
    return {verify, known, [this](const KnownState& now_known) { remembered.push_back(now_known); }};
  }
};

wire::HeartbeatReply naming(RoundIndex round, const Digest& state, std::optional<wire::StateProof> proof = {}) {
  wire::HeartbeatReply reply;
  reply.round = round;
  reply.state_digest = state;
  reply.acknowledged_rounds = round;
  reply.kept.state_proof = std::move(proof);
  return reply;
}

using Verdict = StateChain::Verdict;

// Asks, and hears that answer.
Verdict hear(StateChain& chain, const wire::HeartbeatReply& reply, TimePoint now = kStart) {
  if (!chain.wants_proof()) CHECK(chain.judge(now, digest(1), reply) == Verdict::unknown);
  REQUIRE(chain.wants_proof());
  chain.on_told();
  return chain.judge(now, digest(1), reply);
}

}  // namespace

TEST_CASE("a state that is held here needs no proof, any other one does") {
  Trust trust;
  StateChain chain(trust.make());
  CHECK(chain.judge(kStart, digest(1), naming(3, digest(1))) == Verdict::known);
  CHECK_FALSE(chain.wants_proof());
  CHECK(chain.judge(kStart, digest(1), naming(4, digest(2))) == Verdict::unknown);
  CHECK(hear(chain, naming(4, digest(2), proof_of(3, {digest(1), digest(2)}))) == Verdict::known);
  CHECK(chain.judge(kStart, digest(1), naming(4, digest(2))) == Verdict::known);
  REQUIRE(trust.remembered.size() == 1);
  CHECK(trust.remembered[0].serial == 10);
}

TEST_CASE("a state without a proof, with a false one, or with one of another state is refused, and asked for later") {
  Trust trust;
  StateChain chain(trust.make());
  CHECK(hear(chain, naming(4, digest(2))) == Verdict::refused);
  CHECK(chain.refusal().find("it gives no proof") != std::string::npos);
  CHECK(chain.judge(kStart, digest(1), naming(4, digest(2))) == Verdict::refused);
  CHECK_FALSE(chain.wants_proof());
  TimePoint later = kStart + std::chrono::seconds(1);
  CHECK(chain.judge(later, digest(1), naming(4, digest(2))) == Verdict::refused);
  CHECK(hear(chain, naming(4, digest(2), proof_of(3, {digest(1), digest(5)})), later) == Verdict::refused);
  CHECK(chain.refusal().find("the signatures lead to another state, of round 4") != std::string::npos);
  later += std::chrono::seconds(1);
  trust.authentic = false;
  CHECK(chain.judge(later, digest(1), naming(4, digest(2))) == Verdict::refused);
  CHECK(hear(chain, naming(4, digest(2), proof_of(3, {digest(1), digest(2)})), later) == Verdict::refused);
  CHECK(chain.refusal().find("another key") != std::string::npos);
  CHECK(chain.judge(later, digest(1), naming(3, digest(1))) == Verdict::known);
  CHECK(chain.refusal().empty());
}

TEST_CASE("the log tells the last refusal in the end, also one that followed another at once, and each once") {
  const starling::testing::TempDir dir;
  const std::string file = (dir / "a.log").string();
  init_logging({.to_stderr = false, .file = file});
  Trust trust;
  StateChain chain(trust.make());
  CHECK(hear(chain, naming(4, digest(2))) == Verdict::refused);
  const auto other = naming(4, digest(2), proof_of(3, {digest(1), digest(5)}));
  for (int seconds = 1; seconds < 600; ++seconds) {
    const TimePoint now = kStart + std::chrono::seconds(seconds);
    CHECK(chain.judge(now, digest(1), other) == Verdict::refused);
    if (!chain.wants_proof()) continue;
    chain.on_told();
    CHECK(chain.judge(now, digest(1), other) == Verdict::refused);
  }
  flush_logs();
  init_logging({});
  const std::string log = read_file(file, 1 << 16).value();
  CHECK(log.find("it gives no proof") != std::string::npos);
  const std::size_t last = log.find("the signatures lead to another state");
  REQUIRE(last != std::string::npos);
  CHECK(log.find("the signatures lead to another state", last + 1) == std::string::npos);
}

TEST_CASE("a proof agrees with what is known, unless the project says that it went back") {
  Trust trust;
  StateChain chain(trust.make({{4, digest(4)}, 10}));
  CHECK(hear(chain, naming(5, digest(6), proof_of(3, {digest(3), digest(9), digest(6)}))) == Verdict::refused);
  CHECK(chain.refusal().find("contradicts the state of round 4") != std::string::npos);

  StateChain ahead(trust.make({{4, digest(4)}, 10}));
  CHECK(hear(ahead, naming(3, digest(3), proof_of(2, {digest(2), digest(3)}))) == Verdict::refused);
  CHECK(ahead.refusal().find("end in round 3, but a state of round 4 is known here") != std::string::npos);

  StateChain older(trust.make({{4, digest(4)}, 11}));
  CHECK(hear(older, naming(5, digest(6), proof_of(4, {digest(4), digest(6)}))) == Verdict::refused);
  CHECK(older.refusal().find("older than one that was seen here") != std::string::npos);

  trust.serial = 12;
  StateChain restated(trust.make({{4, digest(4)}, 10}));
  CHECK(hear(restated, naming(4, digest(7), proof_of(4, {digest(7)}))) == Verdict::refused);
  trust.cause = wire::StatementCause::loss;
  StateChain lost(trust.make({{4, digest(4)}, 10}));
  CHECK(hear(lost, naming(4, digest(7), proof_of(4, {digest(7)}))) == Verdict::known);
  trust.cause = wire::StatementCause::rollback;
  StateChain back(trust.make({{4, digest(4)}, 10}));
  CHECK(hear(back, naming(6, digest(2), proof_of(6, {digest(2)}))) == Verdict::known);
}

TEST_CASE("a project that was restored from an older backup says that it went back, and goes on from there") {
  Trust trust;
  trust.serial = 12;
  trust.cause = wire::StatementCause::loss;
  StateChain chain(trust.make({{9, digest(9)}, 10}));
  CHECK(hear(chain, naming(4, digest(4), proof_of(4, {digest(4)}))) == Verdict::known);
  REQUIRE(trust.remembered.size() == 1);
  CHECK(trust.remembered[0].state.round == 4);
  // Round 9 comes again, with another state.
  const auto path = proof_of(4, {digest(4), digest(15), digest(16), digest(17), digest(18), digest(19)});
  CHECK(hear(chain, naming(9, digest(19), path)) == Verdict::known);
}

TEST_CASE("a member loads nothing that is not proven, says why, and goes on when it is") {
  Trust trust;
  Hands hands;
  TimePoint now = kStart;
  SessionOptions options{.run_id = "run", .self = peer(1), .micro_batch_size = 4, .listen_port = 7000};
  options.trust = trust.make();
  Session session(std::move(options), {0, digest(1), {}}, hands);
  session.start(now);
  CHECK(hands.heartbeats.back().trust.state_proof_wanted);
  wire::HeartbeatReply reply = naming(0, digest(1));
  reply.run_state = wire::RunState::running;
  reply.next_heartbeat_ms = 1000;
  session.on_heartbeat_reply(now, reply);
  CHECK(session.view(now).synced);

  reply.round = reply.acknowledged_rounds = 5;
  reply.state_digest = digest(7);
  reply.donors = {{peer(2), "127.0.0.1", 7002}};
  now += std::chrono::seconds(1);
  session.on_timer(now);
  session.on_heartbeat_reply(now, reply);  // it was not asked for a proof: that comes at once
  CHECK(session.view(now).synced);
  session.on_batch_done(now, BatchReport{4, 8.0, 0.1});
  REQUIRE(hands.heartbeats.back().trust.state_proof_wanted);
  session.on_heartbeat_reply(now, reply);
  CHECK_FALSE(session.view(now).synced);
  session.on_batch_done(now, BatchReport{4, 8.0, 0.1});
  CHECK(hands.fetches.empty());
  CHECK(session.view(now).activity.reason.find("it gives no proof") != std::string::npos);

  reply.kept.state_proof = proof_of(4, {digest(6), digest(7)});
  for (int calls = 0; calls < 2; ++calls) {
    now += std::chrono::seconds(1);
    session.on_timer(now);
    session.on_heartbeat_reply(now, reply);
  }
  REQUIRE(hands.fetches.size() == 1);
  CHECK(hands.fetches[0] == std::pair<RoundIndex, Digest>(5, digest(7)));
}
