#include "client/rounds/round_payload.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "client/averaging/own_sketches.h"
#include "shared/run/fragments.h"
#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::rounds;
using averaging::AveragingOutcome;
using Begin = BatchOrder::Begin;
using State = RoundPayload::State;

namespace {

constexpr BatchTarget kAnew{false, true, true};
constexpr BatchTarget kFirst{false, true, false};
constexpr BatchTarget kMore{false, false, false};
constexpr BatchTarget kFirstOfNext{true, true, false};
constexpr BatchTarget kMoreOfNext{true, false, false};
constexpr SampleCount kBatch = 4;

wire::RunManifest manifest_of(bool delays, int fragments = 1) {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 16, .heads = 2, .context = 8};
  manifest.round.delay_parameter_updates = delays;
  manifest.local.emplace().fragments = fragments;
  return manifest;
}

wire::GroupInfo plan_of(const wire::RunManifest& manifest, RoundIndex round, std::size_t members = 1) {
  wire::GroupInfo plan;
  plan.id.bytes.fill(static_cast<std::uint8_t>(round + 1));
  plan.round = round;
  plan.vector_floats = wire::averaged_floats(manifest);
  plan.members.resize(members);
  plan.members.front().part_floats = plan.vector_floats;
  return plan;
}

// A batch that brings `value` for every sample and coordinate.
BatchOrder train(RoundPayload& payload, const BatchTarget& target, float value) {
  if (payload.is_undone_by(target)) payload.undo();
  const BatchOrder order = payload.next_batch(target);
  if (order.clears) std::fill(order.into.begin(), order.into.end(), 0.0F);
  for (float& each : order.into) each += static_cast<float>(kBatch) * value;
  payload.on_batch(kBatch);
  return order;
}

Leg contribute(RoundPayload& payload, const wire::RunManifest& manifest, RoundIndex round, SampleCount samples) {
  Result<Move> move = payload.contribute(plan_of(manifest, round), 0, {samples, 0}, {});
  REQUIRE(move.ok());
  REQUIRE(std::holds_alternative<Leg>(*move));
  return std::get<Leg>(*move);
}

Leg contribute_first(const wire::RunManifest& manifest) {
  RoundPayload payload(manifest);
  train(payload, {.first = true, .anew = true}, 1);
  return contribute(payload, manifest, 0, kBatch);
}

AveragingOutcome outcome_of(const Leg& leg, AveragingOutcome::Verdict verdict) {
  AveragingOutcome outcome;
  outcome.verdict = verdict;
  outcome.samples.assign(leg.group.members.size(), leg.vectors.weight);
  wire::RankSet all(leg.group.members.size());
  for (averaging::Rank rank = 0; rank < leg.group.members.size(); ++rank) all.set(rank);
  outcome.contributors = {{0, leg.group.vector_floats, all}};
  outcome.weight_total = std::accumulate(outcome.samples.begin(), outcome.samples.end(), SampleCount{0});
  return outcome;
}

}  // namespace

TEST_CASE("a sum begins at the agreed parameters from zero, and grows on") {
  for (const bool delays : {false, true}) {
    const wire::RunManifest manifest = manifest_of(delays);
    RoundPayload payload(manifest);
    CHECK(payload.state() == State::beginning);
    const BatchOrder first = train(payload, kAnew, 1);
    CHECK(first.begin == Begin::at_agreed);
    CHECK(first.clears);
    CHECK(payload.state() == State::growing);
    const BatchOrder second = train(payload, kMore, 1);
    CHECK(second.begin == Begin::goes_on);
    CHECK(!second.clears);
    CHECK(second.into.data() == first.into.data());
    CHECK(train(payload, kAnew, 1).begin == Begin::at_agreed);  // everything before is forgotten
  }
}

TEST_CASE("after a step the next round's first batch begins anew, in memory that slower members do not read") {
  const wire::RunManifest manifest = manifest_of(false);
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  const Leg leg = contribute(payload, manifest, 0, kBatch);
  CHECK(payload.state() == State::contributed);
  CHECK(leg.vectors.input.front() == kBatch);
  CHECK(leg.vectors.weight == kBatch);
  CHECK(std::holds_alternative<AveragingOutcome>(payload.on_leg(outcome_of(leg, AveragingOutcome::Verdict::averaged))));
  CHECK(payload.own().samples == kBatch);
  payload.on_stepped();
  CHECK(payload.state() == State::beginning);
  const BatchOrder next = train(payload, kFirst, 5);
  CHECK(next.begin == Begin::at_agreed);
  CHECK(next.clears);
  CHECK(leg.vectors.input.front() == kBatch);
}

TEST_CASE("what did not count grows on, where the trainer is or, with delayed updates, from the agreed parameters") {
  for (const bool delays : {false, true}) {
    const wire::RunManifest manifest = manifest_of(delays);
    RoundPayload payload(manifest);
    train(payload, kAnew, 1);
    contribute(payload, manifest, 0, kBatch);
    CHECK(payload.is_undone_by(kMore));
    CHECK(!payload.is_undone_by(kFirstOfNext));
    const BatchOrder more = train(payload, kMore, 2);
    CHECK(more.begin == (delays ? Begin::at_agreed : Begin::goes_on));
    CHECK(!more.clears);
    CHECK(contribute(payload, manifest, 0, 2 * kBatch).vectors.input.front() == 3 * kBatch);
  }
}

TEST_CASE("a plan with less room takes the mean of all samples, with the weight that it has room for") {
  for (const int fragments : {1, 3}) {
    CAPTURE(fragments);
    const wire::RunManifest manifest = manifest_of(false, fragments);
    RoundPayload payload(manifest);
    train(payload, kAnew, 1);
    train(payload, kMore, 3);
    wire::GroupInfo plan = plan_of(manifest, 0);
    const auto sum_of = [&](SampleCount room, SampleCount samples) {
      plan.members[0].weight_max = room;
      const auto leg = std::get<Leg>(payload.contribute(plan, 0, {samples, 5}, {}).value());
      CHECK(leg.vectors.weight == std::min(room, samples));
      CHECK(leg.vectors.draw == 5);
      CHECK(payload.own().samples == leg.vectors.weight);
      return leg.vectors.input.front();
    };
    CHECK(sum_of(2 * kBatch, 2 * kBatch) == 2 * kBatch * 2);
    CHECK(sum_of(1, 2 * kBatch) == doctest::Approx(2));
    train(payload, kMore, 8);  // that did not count: all of it goes on
    CHECK(sum_of(100, 3 * kBatch) == doctest::Approx(3 * kBatch * 4));
    CHECK(sum_of(3, 3 * kBatch) == doctest::Approx(3 * 4));
    payload.on_stepped();
    train(payload, kFirst, 5);  // and nothing of it is left
    plan.round = fragments;
    CHECK(sum_of(100, kBatch) == doctest::Approx(kBatch * 5));
  }
}

TEST_CASE("batches beside an averaging look ahead once, then go on, and are the next round's when the step is done") {
  const wire::RunManifest manifest = manifest_of(true);
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  const Leg leg = contribute(payload, manifest, 0, kBatch);
  const BatchOrder ahead = train(payload, kFirstOfNext, 2);
  CHECK(payload.state() == State::looking_ahead);
  CHECK(ahead.begin == Begin::ahead);
  CHECK(ahead.clears);
  CHECK(ahead.own_samples == kBatch);
  CHECK(ahead.own_sum.data() == leg.vectors.input.data());
  CHECK(train(payload, kMoreOfNext, 2).begin == Begin::goes_on);
  payload.on_stepped();
  CHECK(payload.state() == State::growing);
  CHECK(train(payload, kMore, 2).begin == Begin::goes_on);
  CHECK(contribute(payload, manifest, 1, 3 * kBatch).vectors.input.front() == 3 * 2 * kBatch);
}

TEST_CASE("who looked ahead for a round that did not count keeps the next round's samples") {
  const wire::RunManifest manifest = manifest_of(true);
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  contribute(payload, manifest, 0, kBatch);
  train(payload, kFirstOfNext, 7);
  CHECK(train(payload, kMore, 1).begin == Begin::at_agreed);
  CHECK(contribute(payload, manifest, 0, 2 * kBatch).vectors.input.front() == 2 * kBatch);
  SUBCASE("and adds to them") {
    const BatchOrder ahead = train(payload, kMoreOfNext, 1);
    CHECK(ahead.begin == Begin::ahead);
    CHECK(!ahead.clears);
  }
  SUBCASE("or, after a step without another batch, beside them: what the step has taken is not brought again") {
    payload.on_stepped();
    const BatchOrder next = train(payload, kMore, 1);
    CHECK(next.begin == Begin::at_agreed);
    CHECK(!next.clears);
    CHECK(next.into.front() == (7 + 1) * kBatch);
  }
}

TEST_CASE("who loses the swarm's state while it averages begins again") {
  for (const int fragments : {1, 3}) {
    const wire::RunManifest manifest = manifest_of(true, fragments);
    RoundPayload payload(manifest);
    train(payload, kAnew, 1);
    contribute(payload, manifest, 0, kBatch);
    CHECK(payload.is_undone_by(kAnew));
    const BatchOrder begins = train(payload, kAnew, 1);
    CHECK(begins.begin == Begin::at_agreed);
    CHECK(begins.into.front() == kBatch);
    CHECK(payload.state() == State::growing);
  }
}

TEST_CASE("who has nothing to bring yet listens, and what it computes meanwhile begins at the agreed parameters") {
  const wire::RunManifest manifest = manifest_of(true);
  RoundPayload payload(manifest);
  const Leg leg = contribute(payload, manifest, 0, 0);
  CHECK(leg.vectors.input.empty());
  CHECK(leg.vectors.weight == 0);
  CHECK(train(payload, {true, true, true}, 1).begin == Begin::at_agreed);
  CHECK(payload.state() == State::looking_ahead);
  payload.on_stepped();
  CHECK(train(payload, kMore, 1).begin == Begin::goes_on);
}

TEST_CASE("a plan of another length is refused, and training goes on") {
  const wire::RunManifest manifest = manifest_of(true);
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  wire::GroupInfo plan = plan_of(manifest, 0);
  ++plan.vector_floats;
  const Result<Move> refused = payload.contribute(plan, 0, {kBatch, 0}, {});
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  train(payload, kFirstOfNext, 1);  // before the session knows
  CHECK(train(payload, kAnew, 1).begin == Begin::at_agreed);
}

TEST_CASE("contributions are bounded around the mean that the momentum stands for, as the round began with it") {
  wire::RunManifest manifest = manifest_of(false);
  manifest.local.reset();
  manifest.round.averaging.aggregation = wire::Aggregation::centered_clip;
  bool is_sum = false;
  SUBCASE("SGD sums gradients up") { is_sum = true; }
  SUBCASE("AdamW averages them") {}
  manifest.optimizer = wire::default_optimizer(is_sum ? wire::OptimizerKind::sgd : wire::OptimizerKind::adamw);
  if (is_sum) manifest.optimizer.momentum = 0.75;
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  const wire::GroupInfo plan = plan_of(manifest, 0);
  const auto parameters = static_cast<std::size_t>(plan.vector_floats);
  std::vector<float> state(3 * parameters, 1);
  std::fill_n(state.begin() + static_cast<std::ptrdiff_t>(parameters), parameters, 8.0F);
  Result<Move> first = payload.contribute(plan, 0, {kBatch, 0}, state);
  REQUIRE(first.ok());
  REQUIRE(std::holds_alternative<Computation>(*first));
  std::get<Computation>(*first).run();
  const Move second = payload.on_computed();
  REQUIRE(std::holds_alternative<Leg>(second));
  const Leg& leg = std::get<Leg>(second);
  std::fill(state.begin(), state.end(), 5.0F);  // the next step
  REQUIRE(leg.vectors.center.size() == parameters);
  CHECK(leg.vectors.center.front() == (is_sum ? 2 : 8));
  CHECK(leg.vectors.center.back() == (is_sum ? 2 : 8));
  CHECK(leg.vectors.input.front() == kBatch);
}

TEST_CASE("a run without a bound averages without one") {
  wire::RunManifest manifest = manifest_of(false);
  CHECK(contribute_first(manifest).engine.norm_ratio_max == 2);
  manifest.round.averaging.aggregation = wire::Aggregation::mean;
  CHECK(contribute_first(manifest).engine.norm_ratio_max == 0);
}

TEST_CASE("a fragment that was sent is cut; sums of the others, and one without samples, go on") {
  const wire::RunManifest manifest = manifest_of(true, 3);
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  const Leg leg = contribute(payload, manifest, 0, kBatch);
  CHECK(leg.vectors.input.size() == wire::fragment_floats(manifest));
  const BatchOrder ahead = train(payload, kFirstOfNext, 1);
  CHECK(ahead.begin == Begin::ahead);
  CHECK(!ahead.clears);
  payload.on_stepped();
  CHECK(payload.state() == State::growing);
  contribute(payload, manifest, 1, 0);  // an auxiliary
  CHECK(train(payload, kFirstOfNext, 1).begin == Begin::goes_on);
  payload.on_stepped();
  const wire::Fragment third = wire::fragment_of(manifest, 2);
  CHECK(train(payload, kMore, 1).into[third.begin] == 4 * kBatch);
  contribute(payload, manifest, 2, kBatch);
  payload.on_stepped();
  CHECK(payload.state() == State::beginning);  // no batch has looked ahead
}

TEST_CASE("a fragment that did not count is brought again at once, with what was computed meanwhile") {
  const wire::RunManifest manifest = manifest_of(true, 3);
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  contribute(payload, manifest, 0, kBatch);
  SUBCASE("nothing") { CHECK(contribute(payload, manifest, 0, kBatch).vectors.input.front() == kBatch); }
  SUBCASE("a batch of the next round") {
    train(payload, kFirstOfNext, 3);
    CHECK(contribute(payload, manifest, 0, kBatch).vectors.input.front() == 2 * kBatch);  // the mean, times the weight
  }
}

TEST_CASE("a fragment whose round counted is not brought again by a later round that does not count") {
  const wire::RunManifest manifest = manifest_of(true, 3);
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  contribute(payload, manifest, 0, kBatch);
  train(payload, kFirstOfNext, 2);
  payload.on_stepped();
  contribute(payload, manifest, 1, 0);  // an auxiliary, and the round does not count
  const BatchOrder more = train(payload, kMore, 2);
  CHECK(more.into.front() == 2 * 2 * kBatch);
}

TEST_CASE("error feedback brings what a codec left out, in the round of the same fragment") {
  wire::RunManifest manifest = manifest_of(true, 3);
  manifest.round.codec = wire::Codec::int4;
  manifest.round.error_feedback = 1;
  RoundPayload payload(manifest);
  const auto bring = [&](RoundIndex round, float value) {
    const BatchOrder order = train(payload, round == 0 ? kAnew : kMore, value);
    if (round == 0) order.into[1] = 0.3F;  // not a value of the codec beside the others
    wire::GroupInfo plan = plan_of(manifest, round, 2);
    plan.codec = to_string(manifest.round.codec);
    plan.members[0].part_floats = 0;
    plan.members[1].part_floats = plan.vector_floats;  // the other one reduces
    const Leg leg = std::get<Leg>(*payload.contribute(plan, 0, {kBatch, 0}, {}));
    (void)payload.on_leg(outcome_of(leg, AveragingOutcome::Verdict::averaged));
    payload.on_stepped();
    return leg.vectors.input[1];
  };
  CHECK(bring(0, 1) == doctest::Approx(0.3F));
  CHECK(bring(1, 0) == doctest::Approx(kBatch / 2.0));  // the mean over two rounds
  CHECK(bring(2, 0) == doctest::Approx(kBatch / 3.0));
  const float again = bring(3, 0);
  CHECK(again != 0);
  CHECK(std::abs(again) < 0.5F);
}

TEST_CASE("low-rank products take two legs, whose average is that of the gradients where their rank suffices") {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 16, .heads = 2, .context = 8};
  manifest.round.low_rank = 2;
  manifest.round.error_feedback = 1;
  std::array<RoundPayload, 2> payloads{RoundPayload(manifest), RoundPayload(manifest)};
  std::array<std::vector<Move>, 2> moves;
  for (std::size_t who = 0; who < 2; ++who) {
    train(payloads[who], kAnew, who == 0 ? 1.0F : 3.0F);
    moves[who].push_back(*payloads[who].contribute(plan_of(manifest, 0, 2), who, {kBatch, 0}, {}));
  }
  for (std::size_t leg = 0; leg < 2; ++leg) {
    std::array<Leg, 2> legs;
    for (std::size_t who = 0; who < 2; ++who) {
      std::get<Computation>(moves[who].back()).run();
      legs[who] = std::get<Leg>(payloads[who].on_computed());
      CHECK(legs[who].follows == (leg > 0));
      CHECK(legs[who].vectors.input.size() < payloads[who].average().size());
    }
    CHECK(legs[0].group.id == legs[1].group.id);
    for (std::size_t i = 0; i < legs[0].vectors.input.size(); ++i) {
      const float mean = (legs[0].vectors.input[i] + legs[1].vectors.input[i]) / (2 * kBatch);
      for (const Leg& each : legs) each.vectors.output[i] = mean;
    }
    for (std::size_t who = 0; who < 2; ++who) {
      AveragingOutcome outcome = outcome_of(legs[who], AveragingOutcome::Verdict::averaged);
      outcome.bytes_sent = 100;
      moves[who].push_back(payloads[who].on_leg(outcome));
    }
  }
  for (std::size_t who = 0; who < 2; ++who) {
    std::get<Computation>(moves[who].back()).run();
    CHECK(std::get<AveragingOutcome>(payloads[who].on_computed()).bytes_sent == 200);
    for (const float value : payloads[who].average()) CHECK(value == doctest::Approx(2).epsilon(1e-4));
  }
}

TEST_CASE("a leg that does not count ends a low-rank round, and the next one begins with the first leg") {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 16, .heads = 2, .context = 8};
  manifest.round.low_rank = 2;
  manifest.round.error_feedback = 1;
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  for (int i = 0; i < 2; ++i) {
    const Move begins = *payload.contribute(plan_of(manifest, 0), 0, {kBatch, 0}, {});
    std::get<Computation>(begins).run();
    const Leg leg = std::get<Leg>(payload.on_computed());
    CHECK(!leg.follows);
    const Move ends = payload.on_leg(outcome_of(leg, AveragingOutcome::Verdict::minority));
    CHECK(std::get<AveragingOutcome>(ends).verdict == AveragingOutcome::Verdict::minority);
  }
}

TEST_CASE("the consensus distance is that of own steps from the average, over the agreed parameters' distance") {
  wire::RunManifest manifest = manifest_of(false);
  RoundPayload payload(manifest);
  train(payload, kAnew, 3);
  const Leg leg = contribute(payload, manifest, 0, kBatch);
  std::fill(leg.vectors.output.begin(), leg.vectors.output.end(), 1.0F);
  const std::vector<float> agreed(wire::parameter_count(manifest.model), 5.0F);
  CHECK(payload.consensus_distance(0, payload.own(), agreed) == doctest::Approx(0.5));  // (3 - 1) / (5 - 1)
  manifest.local.reset();
  CHECK(RoundPayload(manifest).consensus_distance(0, {leg.vectors.input, kBatch}, agreed) == 0);
}

TEST_CASE("a member tells what it contributed and what came of it, until the next contribution") {
  wire::RunManifest manifest = manifest_of(false);
  manifest.local.reset();
  manifest.round.codec = wire::Codec::int8;
  RoundPayload payload(manifest);
  train(payload, kAnew, 1);
  wire::GroupInfo plan = plan_of(manifest, 0);
  plan.codec = "int8";
  plan.audit_commitment.bytes[0] = 1;
  Hash128 seed;
  seed.bytes[0] = 9;
  const Result<Move> move = payload.contribute(plan, 0, {kBatch, 0}, {});
  REQUIRE(move.ok());
  const Leg leg = std::get<Leg>(*move);
  CHECK_FALSE(payload.own_sketches(seed).has_value());  // nobody knows yet what comes of it
  std::fill(leg.vectors.output.begin(), leg.vectors.output.end(), 0.5F);
  (void)payload.on_leg(outcome_of(leg, AveragingOutcome::Verdict::averaged));
  const std::vector<float> brought(leg.vectors.input.begin(), leg.vectors.input.end());
  const std::vector<float> average(leg.vectors.output.begin(), leg.vectors.output.end());
  const wire::OwnSketches expected = averaging::own_sketches(plan, 0, brought, average, seed);
  const auto is_told = [&] {
    const std::optional<wire::OwnSketches> told = payload.own_sketches(seed);
    return told && told->round == 0 && told->contributed == expected.contributed && told->whole == expected.whole &&
           told->result == expected.result;
  };
  CHECK(is_told());
  payload.on_stepped();
  CHECK(is_told());
  train(payload, kFirst, 5);
  CHECK(is_told());
  plan.round = 1;
  REQUIRE(payload.contribute(plan, 0, {kBatch, 0}, {}).ok());
  CHECK_FALSE(payload.own_sketches(seed).has_value());
}

TEST_CASE("what cannot be checked is not told") {
  const auto tells = [](const wire::RunManifest& manifest, AveragingOutcome::Verdict verdict, bool audited) {
    RoundPayload payload(manifest);
    train(payload, kAnew, 1);
    wire::GroupInfo plan = plan_of(manifest, 0);
    plan.audit_commitment.bytes[0] = audited ? 1 : 0;
    const Result<Move> move = payload.contribute(plan, 0, {kBatch, 0}, {});
    REQUIRE(move.ok());
    (void)payload.on_leg(outcome_of(std::get<Leg>(*move), verdict));
    const bool told = payload.own_sketches(Hash128{}).has_value();
    payload.undo();
    CHECK_FALSE(payload.own_sketches(Hash128{}).has_value());
    return told;
  };
  wire::RunManifest manifest = manifest_of(false);
  CHECK_FALSE(tells(manifest, AveragingOutcome::Verdict::averaged, true));  // local steps
  manifest.local.reset();
  CHECK(tells(manifest, AveragingOutcome::Verdict::averaged, true));
  CHECK_FALSE(tells(manifest, AveragingOutcome::Verdict::averaged, false));
  CHECK_FALSE(tells(manifest, AveragingOutcome::Verdict::minority, true));
  manifest.round.error_feedback = 0.9;
  CHECK_FALSE(tells(manifest, AveragingOutcome::Verdict::averaged, true));
}
