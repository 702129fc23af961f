// Compares a session that delays its updates, with the product's trainer, with an equal run written out by hand; and
// measures the cost of the delay to a small GPT.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/session/session.h"
#include "client/trainer_link/gradient_sum.h"
#include "client/training/torch_trainer.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/state/state_digest.h"
#include "shared/swarm/plan.h"
#include "tests/golden/tiny_text.h"

using namespace starling;
using averaging::AveragingOutcome;

namespace {

using golden::words;

constexpr RoundIndex kRounds = 120;
// Odd, so that the trainer looks for no smaller, faster piece: results are equal to the bit.
constexpr SampleCount kMicroBatch = 5;
constexpr int kBatchesARound = 6;
// Batches that end while a round is averaged; the one that runs then is at old parameters, too.
constexpr int kBatchesAnAveraging = 2;
constexpr TimePoint kNow{std::chrono::seconds(1000)};

wire::RunManifest tiny_run(bool delays) {
  wire::RunManifest manifest;
  manifest.round.delay_parameter_updates = delays;
  manifest.run_id = "tiny";
  manifest.model = {.layers = 2, .width = 32, .heads = 2, .context = 32};
  manifest.peers_max = 8;
  manifest.micro_batch_size = kMicroBatch;
  manifest.schedule.learning_rate = 1e-2;
  manifest.schedule.warmup_rounds = 5;
  manifest.schedule.total_rounds = kRounds;
  return manifest;
}

struct Replica {
  explicit Replica(bool delays)
      : optimizer(tiny_run(delays)), state(optimizer.state_size()), scratch(optimizer.parameter_count()) {
    auto created = training::TorchTrainer::create({tiny_run(delays), text, text, state, scratch, journal.get(), 1});
    REQUIRE(created.ok());
    trainer = std::move(created).value();
    REQUIRE(trainer->initialize().ok());
  }

  void step(RoundIndex round, std::vector<float> sum, SampleCount samples) {
    for (float& value : sum) value /= static_cast<float>(samples);
    REQUIRE(trainer->step(round, sum).ok());
    trainer->begin_sum();
  }

  optim::Optimizer optimizer;
  std::vector<std::uint8_t> text = words(3000);
  std::vector<float> state, scratch;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  std::unique_ptr<training::TorchTrainer> trainer;
};

// A swarm of one: the actions that its session requests end when the test lets them.
struct Volunteer : session::Session::Mediator {
  explicit Volunteer(bool delays)
      : replica(delays),
        session({.run_id = "tiny", .self = self(), .micro_batch_size = kMicroBatch, .delay_parameter_updates = delays},
                {0, digest(), {}}, *this) {
    for (auto& sum : sums) sum.resize(replica.optimizer.parameter_count());
    session.start(kNow);
    hear(false);
  }

  static PeerId self() {
    PeerId id;
    id.bytes.fill(1);
    return id;
  }
  Digest digest() const { return state::state_digest(std::span<const float>(replica.state)); }

  void hear(bool with_plan) {
    const session::Session::View view = session.view(kNow);
    wire::HeartbeatReply reply;
    reply.run_state = wire::RunState::running;
    reply.round = reply.acknowledged_rounds = view.state_round;
    reply.state_digest = view.state_digest;
    reply.next_heartbeat_ms = 1'000'000;
    if (with_plan) {
      wire::MemberInfo member;
      member.endpoint = {self(), "127.0.0.1", 7000};
      swarm::PlanOptions options;
      options.run_id = "tiny";
      options.round = view.state_round;
      options.state_digest = view.state_digest;
      options.vector_floats = std::ssize(sums[0]);
      reply.group = swarm::plan_group(std::array{member}, options);
    }
    session.on_heartbeat_reply(kNow, reply);
  }

  void finish_batch() {
    const Result<session::BatchReport> report = *std::exchange(batch, std::nullopt);
    session.on_batch_done(kNow, report);
  }

  void finish_averaging() {
    AveragingOutcome outcome;
    outcome.verdict = AveragingOutcome::Verdict::averaged;
    outcome.samples = {averaged};
    outcome.weight_total = averaged;
    session.on_averaged(kNow, outcome);
  }

  void finish_step() {
    replica.step(*std::exchange(stepping, std::nullopt), sums[present], averaged);
    present = 1 - present;
    session.on_step_done(kNow, digest());
  }

  void play_round() {
    while (session.view(kNow).samples_this_round < (kBatchesARound - 1) * kMicroBatch) finish_batch();
    hear(true);
    finish_batch();  // then it averages
    for (int i = 0; batch && i < kBatchesAnAveraging; ++i) finish_batch();
    finish_averaging();
    if (batch) finish_batch();
    finish_step();  // in the middle of a batch, if there is one
  }

  void send_heartbeat(const wire::Heartbeat&) override {}
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override {
    std::vector<float>& sum = sums[target.next_round ? 1 - present : present];
    if (target.first) std::fill(sum.begin(), sum.end(), 0.0F);
    const bool turns = std::exchange(computes_ahead, target.next_round) != target.next_round;
    if (turns && target.next_round) replica.trainer->begin_sum_ahead(samples.round - 1, sums[present], averaged);
    batch = replica.trainer->train_batch(samples, sum);
  }
  void report_unusable(const wire::UnusableSamples&) override {}
  void start_averaging(const wire::GroupInfo&, averaging::Rank, const averaging::ContributionTerms& terms) override {
    averaged = terms.weight;
  }
  void start_step(RoundIndex round) override { stepping = round; }
  void start_evaluation() override {}
  void fetch_state(std::span<const wire::Endpoint>, RoundIndex, const Digest&) override {}
  void fetch_checkpoint(const wire::Artefact&, RoundIndex, const Digest&) override {}
  void make_initial_state(const Digest&) override {}
  void send_checkpoint(RoundIndex, const Digest&) override {}
  void record_round(const wire::RoundReport&, Duration) override {}
  void forget_reports(RoundIndex) override {}
  void withdraw_reports(RoundIndex) override {}
  void forget_previous_state() override {}
  void restore_previous_state(RoundIndex, const Digest&) override {}
  std::optional<Digest> prove_state(const Hash128&, const Digest&) override { return std::nullopt; }
  void save_checkpoint(RoundIndex, const Digest&) override {}

  Replica replica;
  std::array<std::vector<float>, 2> sums;
  std::size_t present = 0;
  SampleCount averaged = 0;
  bool computes_ahead = false;
  std::optional<Result<session::BatchReport>> batch;  // the batch under way
  std::optional<RoundIndex> stepping;
  session::Session session;
};

// A round's gradient, and one volunteer's own share of it: that of the last `own` batches.
struct Sums {
  explicit Sums(std::size_t parameters) : all(parameters), own(parameters) {}
  std::vector<float> all, own;
};

// Each step takes the mean gradient of its round's samples; the first ones are computed at the result of a step with
// one's own gradient.
void train_by_hand(Replica& replica, RoundIndex rounds, int own) {
  const auto add = [&](RoundIndex round, int from, int to, Sums& sums, const Sums* averaged = nullptr) {
    for (int i = from; i < to; ++i) {
      if (averaged != nullptr) {
        replica.trainer->begin_sum_ahead(round - 1, averaged->own, own * kMicroBatch);
      } else {
        replica.trainer->begin_sum();
      }
      std::vector<float> gradient(sums.all.size());
      REQUIRE(replica.trainer->train_batch({round, 0, i * kMicroBatch, kMicroBatch}, gradient).ok());
      REQUIRE(trainer_link::add_gradient(gradient, sums.all).ok());
      if (i >= kBatchesARound - own) REQUIRE(trainer_link::add_gradient(gradient, sums.own).ok());
    }
  };
  const std::size_t parameters = replica.optimizer.parameter_count();
  Sums sums(parameters);
  int ahead = 0;
  for (RoundIndex round = 0; round < rounds; ++round) {
    add(round, ahead, kBatchesARound, sums);
    ahead = kBatchesAnAveraging + 2;
    Sums next(parameters);
    add(round + 1, 0, ahead, next, &sums);
    replica.step(round, std::exchange(sums, std::move(next)).all, kBatchesARound * kMicroBatch);
  }
}

double bits_of(Replica& replica) {
  const auto evaluation = replica.trainer->evaluate();
  REQUIRE(evaluation.ok());
  return evaluation->bits_per_byte;
}

double bits_of_session(bool delays) {
  Volunteer volunteer(delays);
  while (volunteer.session.view(kNow).state_round < kRounds) volunteer.play_round();
  return bits_of(volunteer.replica);
}

double bits_by_hand(int own) {
  Replica replica(true);
  train_by_hand(replica, kRounds, own);
  return bits_of(replica);
}

}  // namespace

TEST_CASE("delayed updates take each sample once, and gradients that are at most one step old, to the bit") {
  Volunteer volunteer(true);
  Replica by_hand(true);
  for (int round = 0; round < 5; ++round) volunteer.play_round();
  train_by_hand(by_hand, 5, kBatchesARound);
  CHECK(volunteer.replica.state == by_hand.state);
}

TEST_CASE("who trains alone knows where the step leads: the delay changes no bit") {
  CHECK(bits_of_session(true) == bits_of_session(false));
}

TEST_CASE("who knows a third of the average ends where it ends without delay") {
  const double at_once = bits_of_session(false);
  const double delayed = bits_by_hand(kBatchesARound / 3);
  MESSAGE("bits per byte: at once " << at_once << ", delayed " << delayed);
  CHECK(at_once < 2);
  CHECK(delayed < 1.01 * at_once);
}
