#include "client/session/audits.h"

#include <doctest/doctest.h>

#include "shared/state/audit_number.h"
#include "tests/client/session/session_fixture.h"

namespace starling::session {
namespace {

wire::AuditOrder order(std::int64_t number, RoundIndex round, std::vector<SampleCount> counts) {
  wire::AuditOrder order{number, round, {}, {}, {}};
  SampleCount first = 100;
  for (const SampleCount count : counts)
    order.samples.push_back({round, 0, std::exchange(first, first + 50), count, 0});
  order.parts = {{0, 64, {}}, {64, 64, {}}};
  return order;
}

wire::AuditsDue due(RoundIndex keep, std::vector<wire::AuditOrder> orders) {
  wire::AuditsDue due;
  due.keep_states = {keep};
  due.orders = std::move(orders);
  return due;
}

Result<std::vector<double>> sketches(double value) { return std::vector<double>(2 * wire::kSketchFloats, value); }

}  // namespace

TEST_CASE("an order is recomputed in pieces, range by range, and its sum is told until the coordinator has it") {
  Audits audits;
  audits.on_reply(kStart, due(3, {order(7, 3, {6, 3})}));
  CHECK(audits.wants(3));
  CHECK_FALSE(audits.wants(2));
  audits.on_kept(3);
  std::vector<std::pair<SampleCount, SampleCount>> pieces;
  for (double value : {1.0, 2.0, 4.0}) {
    const auto piece = audits.begin_piece(kStart, 4);
    REQUIRE(piece);
    CHECK(piece->parts.size() == 2);
    pieces.emplace_back(piece->samples.first, piece->samples.count);
    audits.on_piece(kStart, sketches(value), false);
  }
  CHECK(pieces == std::vector<std::pair<SampleCount, SampleCount>>{{100, 4}, {104, 2}, {150, 3}});
  CHECK_FALSE(audits.begin_piece(kStart, 4));
  const wire::AuditAnswers answers = audits.tell();
  REQUIRE(answers.results.size() == 1);
  CHECK(answers.results[0].number == 7);
  CHECK(answers.results[0].sketches == std::vector<float>(2 * wire::kSketchFloats, 7.F));
  audits.on_reply(kStart, due(3, {order(7, 3, {6, 3})}));  // the call was lost
  CHECK(audits.tell().results.size() == 1);
  audits.on_reply(kStart, {});
  CHECK(audits.tell().results.empty());
}

TEST_CASE("an order about a state that is not kept, or about nothing, is refused at once") {
  Audits audits;
  audits.on_reply(kStart, due(3, {order(1, 3, {4}), order(2, 3, {})}));
  audits.refuse_unkept(3);  // its state may still be kept after the step
  CHECK(audits.tell().results.size() == 1);
  CHECK_FALSE(audits.begin_piece(kStart, 4));
  audits.refuse_unkept(4);
  const wire::AuditAnswers answers = audits.tell();
  REQUIRE(answers.results.size() == 2);
  for (const wire::AuditResult& result : answers.results) {
    CHECK(result.sketches.empty());
    CHECK_FALSE(result.reason.empty());
  }
}

TEST_CASE("a piece that a pause ended is begun again, and one that fails ends its order") {
  Audits audits;
  audits.on_reply(kStart, due(3, {order(1, 3, {4}), order(2, 3, {4})}));
  audits.on_kept(3);
  REQUIRE(audits.begin_piece(kStart, 4));
  audits.on_piece(kStart, Error{ErrorCode::unavailable, "paused"}, true);
  const auto again = audits.begin_piece(kStart, 4);
  REQUIRE(again);
  CHECK(again->samples.first == 100);
  audits.on_piece(kStart, Error{ErrorCode::corrupt, "the gradient is not finite"}, false);
  CHECK_FALSE(audits.begin_piece(kStart, 4));
  const TimePoint later = kStart + std::chrono::seconds(10);
  REQUIRE(audits.begin_piece(later, 4));
  audits.on_piece(later, sketches(1), false);
  const wire::AuditAnswers answers = audits.tell();
  REQUIRE(answers.results.size() == 2);
  CHECK(answers.results[0].reason == "the gradient is not finite");
  CHECK(answers.results[1].sketches.size() == 2 * wire::kSketchFloats);
}

TEST_CASE("an order that was given to somebody else ends, but for a piece under way") {
  Audits audits;
  audits.on_reply(kStart, due(3, {order(1, 3, {8}), order(2, 3, {4})}));
  audits.on_kept(3);
  REQUIRE(audits.begin_piece(kStart, 4));
  audits.on_reply(kStart, {});
  audits.on_piece(kStart, sketches(1), false);
  audits.on_reply(kStart, {});
  audits.on_kept(3);
  CHECK_FALSE(audits.begin_piece(kStart, 4));
  CHECK(audits.tell().results.empty());
}

TEST_CASE("a trainer that dies of an order is not killed by it for ever") {
  Audits audits;
  audits.on_reply(kStart, due(3, {order(1, 3, {4})}));
  audits.on_kept(3);
  TimePoint now = kStart;
  int pieces = 0;
  for (int second = 0; second < 120; ++second) {
    now += std::chrono::seconds(1);
    if (!audits.begin_piece(now, 4)) continue;
    ++pieces;
    audits.on_piece(now, Error{ErrorCode::unavailable, "the trainer was killed"}, false);
  }
  CHECK(pieces == 3);
  REQUIRE(audits.tell().results.size() == 1);
  CHECK(audits.tell().results[0].reason == "the trainer was killed");
}

TEST_CASE("an order with the number of one that is over is another one, and that one has no result") {
  Audits audits;
  audits.on_reply(kStart, due(3, {order(1, 3, {8})}));
  audits.on_kept(3);
  REQUIRE(audits.begin_piece(kStart, 8));
  audits.on_reply(kStart, due(3, {}));
  audits.on_reply(kStart, due(3, {order(1, 3, {2})}));
  audits.on_piece(kStart, sketches(1), false);
  CHECK(audits.tell().results.empty());
  const auto piece = audits.begin_piece(kStart, 8);
  REQUIRE(piece);
  CHECK(piece->samples.count == 2);
}

TEST_CASE("audits that have waited long get half of the trainer's time") {
  Audits audits;
  audits.on_reply(kStart, due(3, {order(1, 3, {100})}));
  audits.on_kept(3);
  CHECK_FALSE(audits.is_overdue(kStart + std::chrono::seconds(1)));
  TimePoint now = kStart + std::chrono::minutes(1);
  CHECK(audits.is_overdue(now));
  REQUIRE(audits.begin_piece(now, 4));
  now += std::chrono::seconds(2);
  audits.on_piece(now, sketches(1), false);
  CHECK_FALSE(audits.is_overdue(now + std::chrono::seconds(1)));
  CHECK(audits.is_overdue(now + std::chrono::seconds(2)));
}

namespace {

// A session at round 1, whose coordinator has an order for it about round 0.
struct Audited : Fixture {
  wire::HeartbeatReply ordered = reply(1, digest(2));

  Audited() {
    begin_training();
    play_round(0, digest(2));
    ordered.kept.audits = due(0, {order(5, 0, {6})});
    ordered.acknowledged_rounds = 1;
  }
};

}  // namespace

TEST_CASE("an auditor keeps the state before it is forgotten, and recomputes while its group averages") {
  Audited f;
  f.hear(f.ordered);
  CHECK(f.hands.audited == std::vector<RoundIndex>{0});
  CHECK(f.hands.previous_forgotten == 1);
  CHECK(f.hands.audits.empty());  // its own batches come first
  auto planned = f.ordered;
  planned.group = f.group(1);
  f.hear(planned);
  f.batch_done();
  REQUIRE(f.hands.groups.size() == 2);
  REQUIRE(f.hands.audits.size() == 1);
  CHECK(f.hands.audits[0].count == 4);
  CHECK(f.hands.audit_parts == 2);
  const std::size_t batches = f.hands.batches.size();
  f.session.on_audited(f.now, sketches(1));
  REQUIRE(f.hands.audits.size() == 2);
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
  CHECK(f.hands.steps.size() == 1);  // the step waits for the piece under way
  f.session.on_audited(f.now, sketches(2));
  CHECK(f.hands.steps.size() == 2);
  CHECK(f.hands.batches.size() == batches);
  f.session.on_step_done(f.now, digest(3));
  f.session.on_heartbeat_failed(f.now, Error{ErrorCode::unavailable, "lost"});
  f.now += std::chrono::seconds(6);
  f.session.on_timer(f.now);
  const wire::AuditAnswers& told = f.hands.heartbeats.back().trust.audits;
  REQUIRE(told.results.size() == 1);
  CHECK(told.results[0].number == 5);
  CHECK(told.results[0].sketches == std::vector<float>(2 * wire::kSketchFloats, 3.F));
  f.hear(f.reply(2, digest(3)));
  CHECK(f.hands.audited_forgotten == 1);
}

TEST_CASE("a member of a run without audits keeps nothing, computes nothing for others, and tells no sketches") {
  Hands hands;
  Session session({.run_id = "run", .self = peer(1), .micro_batch_size = 4, .listen_port = 7000}, {0, digest(1), {}},
                  hands);
  Fixture f;  // writes the replies
  session.start(kStart);
  session.on_heartbeat_reply(kStart, f.reply(0, digest(1)));
  auto ordered = f.reply(0, digest(1));
  ordered.kept.audits = due(0, {order(5, 0, {6})});
  ordered.kept.audits.sketches = wire::SketchRequest{0, digest(77)};
  ordered.group = f.group(0);
  ordered.group->audit_commitment = state::audit_commitment(digest(77));
  session.on_heartbeat_reply(kStart, ordered);
  session.on_batch_done(kStart, BatchReport{4, 1.0});
  REQUIRE(hands.groups.size() == 1);
  CHECK(hands.groups[0].audit_commitment.is_zero());  // so it measures nothing as an owner
  session.on_averaged(kStart, f.outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
  session.on_step_done(kStart, digest(2));
  ordered.group.reset();
  ordered.round = 1;
  ordered.state_digest = digest(2);
  session.on_heartbeat_reply(kStart, ordered);
  CHECK(hands.audited.empty());
  CHECK(hands.audits.empty());
  CHECK_FALSE(hands.sketched_with);
}

TEST_CASE("a volunteer that does not have the state says so") {
  Audited f;
  f.hands.has_previous = false;
  f.hear(f.ordered);
  auto planned = f.ordered;
  planned.group = f.group(1);
  f.hear(planned);
  f.batch_done();
  CHECK(f.hands.audits.empty());
  CHECK_FALSE(f.hands.heartbeats.back().trust.audits.results.empty());
}

TEST_CASE("a volunteer sketches its own contribution for the number of its plan only") {
  Fixture f;
  f.begin_training();
  Digest number = digest(77);
  auto planned = f.reply(0, digest(1));
  planned.group = f.group(0);
  planned.group->audit_commitment = state::audit_commitment(number);
  f.hear(planned);
  f.batch_done();
  f.session.on_averaged(f.now, f.outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
  f.session.on_step_done(f.now, digest(2));
  REQUIRE(f.hands.recorded.size() == 1);
  REQUIRE(f.hands.recorded[0].own);
  CHECK(f.hands.recorded[0].own->weight == 4);
  CHECK(f.hands.recorded[0].own->computed == 4);
  auto asked = f.reply(1, digest(2));
  asked.kept.audits.sketches = wire::SketchRequest{0, digest(78)};
  f.hear(asked);
  CHECK_FALSE(f.hands.sketched_with);
  asked.kept.audits.sketches = wire::SketchRequest{0, number};
  f.hear(asked);
  CHECK(f.hands.sketched_with == state::audit_seed(number, Hash128{}));
  f.now += std::chrono::seconds(2);
  f.session.on_timer(f.now);
  REQUIRE(f.hands.heartbeats.back().trust.audits.own);
  CHECK(f.hands.heartbeats.back().trust.audits.own->round == 0);
}

}  // namespace starling::session
