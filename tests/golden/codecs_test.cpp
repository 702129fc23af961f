// Compares two trainings of a small GPT by three peers: one with gradients in narrow codecs or with narrow moments, and
// one in fp32.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/averaging/error_feedback.h"
#include "client/optim/optimizer.h"
#include "client/training/torch_trainer.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/low_rank_swarm.h"
#include "tests/golden/tiny_text.h"
#include "tests/support/suite_form.h"

using namespace starling;
using averaging::AveragingOutcome;
using averaging::InMemoryGroup;
using averaging::Rank;

namespace {

using golden::words;

constexpr RoundIndex kRounds = 60;
constexpr std::size_t kPeers = 3;
constexpr SampleCount kBatch = 8;

struct Training {
  const char* results;
  const char* contributions;
  double error_feedback;
  int rank = 0;                                       // rank of low-rank products; 0: the vector is sent whole
  wire::MomentForm moments = wire::MomentForm::fp32;  // form that they are rounded to after each step
};

wire::RunManifest tiny_run(const Training& how) {
  wire::RunManifest manifest;
  manifest.moments = how.moments;
  manifest.model = {.layers = 2, .width = 32, .heads = 2, .context = 32};
  manifest.peers_max = 8;
  manifest.micro_batch_size = kBatch;
  manifest.schedule.learning_rate = 1e-2;
  manifest.schedule.warmup_rounds = 5;
  manifest.schedule.total_rounds = kRounds;
  return manifest;
}

struct Peer {
  Peer(std::span<const std::uint8_t> text, const Training& how) : optimizer(tiny_run(how)) {
    state.resize(optimizer.state_size());
    scratch.resize(optimizer.parameter_count());
    sum.resize(optimizer.parameter_count());
    auto created = training::TorchTrainer::create({tiny_run(how), text, text, state, scratch, journal.get(), 1});
    REQUIRE(created.ok());
    trainer = std::move(created).value();
    REQUIRE(trainer->initialize().ok());
    if (how.error_feedback > 0) feedback.emplace(sum.size(), static_cast<float>(how.error_feedback));
  }

  optim::Optimizer optimizer;
  std::vector<float> state, scratch, sum;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  std::unique_ptr<training::TorchTrainer> trainer;
  std::optional<averaging::ErrorFeedback> feedback;
};

averaging::LowRankSwarm low_rank_swarm(const Training& how) {
  averaging::LowRankOptions options;
  options.members = kPeers;
  options.parameters = wire::model_layout(tiny_run(how).model);
  options.rank = how.rank;
  options.kept = static_cast<float>(how.error_feedback);
  options.codec = how.results;
  options.segment_floats = 8192;
  options.weights.assign(kPeers, kBatch);
  return averaging::LowRankSwarm(options);
}

void average_low_rank(RoundIndex round, averaging::LowRankSwarm& swarm, std::vector<std::unique_ptr<Peer>>& peers) {
  for (Rank rank = 0; rank < kPeers; ++rank) {
    std::fill(swarm.gradient(rank).begin(), swarm.gradient(rank).end(), 0.0F);
    const wire::SampleRange samples{round, static_cast<int>(rank), 0, kBatch};
    REQUIRE(peers[rank]->trainer->train_batch(samples, swarm.gradient(rank)).ok());
  }
  swarm.play_round();
  for (Rank rank = 0; rank < kPeers; ++rank) {
    REQUIRE(swarm.outcome(rank) != nullptr);
    REQUIRE(swarm.outcome(rank)->verdict == AveragingOutcome::Verdict::averaged);
    REQUIRE(peers[rank]->trainer->step(round, swarm.result(rank)).ok());
  }
}

void average_and_step(RoundIndex round, const Training& how, std::vector<std::unique_ptr<Peer>>& peers) {
  averaging::GroupOptions options;
  options.members = kPeers;
  options.vector_floats = static_cast<std::int64_t>(peers.front()->sum.size());
  options.segment_floats = 8192;
  options.codec = how.results;
  options.codecs.assign(kPeers, how.contributions);
  options.weights.assign(kPeers, kBatch);
  options.rest_in_input = true;
  InMemoryGroup group(options);
  for (Rank rank = 0; rank < kPeers; ++rank) {
    Peer& peer = *peers[rank];
    std::fill(peer.sum.begin(), peer.sum.end(), 0.0F);
    REQUIRE(peer.trainer->train_batch({round, static_cast<int>(rank), 0, kBatch}, peer.sum).ok());
    std::span<const float> input = peer.sum;
    if (peer.feedback) input = peer.feedback->contribute(group.group(), rank, input);
    group.input(rank).assign(input.begin(), input.end());
  }
  group.run();
  for (Rank rank = 0; rank < kPeers; ++rank) {
    REQUIRE(group.outcome(rank) != nullptr);
    REQUIRE(group.outcome(rank)->verdict == AveragingOutcome::Verdict::averaged);
    if (peers[rank]->feedback) {
      std::copy(group.input(rank).begin(), group.input(rank).end(), peers[rank]->feedback->rest().begin());
      peers[rank]->feedback->on_averaged(group.group().id, *group.outcome(rank));
    }
    REQUIRE(peers[rank]->trainer->step(round, group.output(rank)).ok());
  }
}

// Bits per byte of held-out text after all rounds; every peer holds an equal model.
double trained(const Training& how) {
  const std::vector<std::uint8_t> text = words(3000);
  std::vector<std::unique_ptr<Peer>> peers;
  for (std::size_t i = 0; i < kPeers; ++i) peers.push_back(std::make_unique<Peer>(text, how));
  std::optional<averaging::LowRankSwarm> low_rank;
  if (how.rank > 0) low_rank.emplace(low_rank_swarm(how));
  for (RoundIndex round = 0; round < kRounds; ++round) {
    low_rank ? average_low_rank(round, *low_rank, peers) : average_and_step(round, how, peers);
  }
  for (const auto& peer : peers) CHECK(peer->state == peers.front()->state);
  const auto evaluation = peers.front()->trainer->evaluate();
  REQUIRE(evaluation.ok());
  return evaluation->bits_per_byte;
}

}  // namespace

TEST_CASE("a model trained through narrow codecs ends near where one trained through fp32 ends") {
  struct Narrow {
    const char* name;
    Training how;
    double worse_max;  // its bits per byte over those with fp32
    bool in_short_suite;
  };
  const Narrow all[] = {
      {"int8", {"int8", "", 0}, 1.005, true},
      {"int4 with feedback", {"int8", "int4", 0.95}, 1.01, false},
      {"sparse with feedback", {"fp16", "sparse", 0.95}, 1.06, true},
      {"rank 8", {"fp32", "", 1, 8}, 1.04, false},
      {"rank 4 in fp16", {"fp16", "", 1, 4}, 1.10, true},
      {"moments in fp16", {"fp32", "", 0, 0, wire::MomentForm::fp16}, 1.005, false},
      {"moments in fp8", {"fp32", "", 0, 0, wire::MomentForm::fp8}, 1.02, true},
  };
  const double exact = trained({"fp32", "", 0});
  MESSAGE("bits per byte: fp32 " << exact);
  CHECK(exact < 2);
  for (const Narrow& narrow : all) {
    if (!narrow.in_short_suite && !starling::testing::is_long_suite()) continue;
    CAPTURE(narrow.name);
    const double bits = trained(narrow.how);
    MESSAGE(narrow.name << ": " << bits);
    CHECK(bits < narrow.worse_max * exact);
  }
}
