// Compares an elastic swarm with a single process: peers of unequal speed that join, leave and die must end where a
// process ends that takes exactly their samples as one batch a round.
#include <ATen/ATen.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>
// Included after torch, whose CHECK must give way.
#include <doctest/doctest.h>

#include "client/models/model.h"
#include "client/optim/optimizer.h"
#include "client/training/batches.h"
#include "client/training/torch_trainer.h"
#include "shared/base/words.h"
#include "shared/state/initial_state.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/golden/tiny_text.h"
#include "tests/support/suite_form.h"

using namespace starling;
using averaging::AveragingOutcome;
using averaging::ContributorRun;
using averaging::InMemoryGroup;
using averaging::Rank;

namespace {

using golden::words;

constexpr RoundIndex kRounds = 50;
constexpr RoundIndex kDeathRound = 33;
constexpr int kDyingLane = 2;
constexpr std::size_t kDeathEvent = 160;  // some segments of the dying member have been delivered, others have not

wire::RunManifest tiny_run(wire::OptimizerKind optimizer) {
  wire::RunManifest manifest;
  manifest.optimizer = wire::default_optimizer(optimizer);
  // For a whole window its steps are g / (|g| + epsilon): rounding must be small compared with epsilon where g is
  // nearly zero.
  if (optimizer == wire::OptimizerKind::accum_adamw) manifest.optimizer.epsilon = 1e-5;
  manifest.model = {.layers = 2, .width = 32, .heads = 2, .context = 32};
  manifest.peers_max = 8;
  manifest.micro_batch_size = 64;
  manifest.schedule.warmup_rounds = 10;
  manifest.schedule.total_rounds = kRounds;
  return manifest;
}

wire::RunManifest tiny_albert() {
  wire::RunManifest manifest = tiny_run(wire::OptimizerKind::lamb);
  manifest.data.kind = wire::DataKind::tokens;
  manifest.model = {.architecture = wire::Architecture::albert,
                    .layers = 2,
                    .width = 64,
                    .heads = 2,
                    .context = 32,
                    .vocabulary = golden::kTokens,
                    .embedding_width = 16,
                    .mlp_width = 256};
  return manifest;
}

// A peer's part: its samples per round, its micro-batch, and its rounds.
struct Volunteer {
  int lane = 0;
  SampleCount batch = 0;  // in even rounds; one less in odd ones
  SampleCount micro_batch = 0;
  std::vector<std::pair<RoundIndex, RoundIndex>> stays;  // from the first round to before the second

  [[nodiscard]] bool present(RoundIndex round) const {
    return std::any_of(stays.begin(), stays.end(),
                       [&](const auto& stay) { return stay.first <= round && round < stay.second; });
  }
  [[nodiscard]] wire::SampleRange samples(RoundIndex round) const { return {round, lane, 0, batch - round % 2}; }
};

const std::vector<Volunteer> kVolunteers = {
    {0, 9, 2, {{0, 20}, {30, kRounds}}},  // leaves and comes back
    {1, 4, 4, {{0, kRounds}}},
    {kDyingLane, 6, 1, {{5, kDeathRound + 1}, {41, kRounds}}},  // dies in the middle of a round; returns later
    {3, 13, 5, {{12, 45}}},
    {4, 2, 8, {{24, kRounds}}},
};

// A peer: the product's trainer, and the memory that its daemon would share with it.
struct Peer {
  Peer(const Volunteer& who, const wire::RunManifest& manifest, std::span<const std::uint8_t> text)
      : volunteer(who), optimizer(manifest) {
    state.resize(optimizer.state_size());
    scratch.resize(optimizer.parameter_count());
    sum.resize(optimizer.parameter_count());
    auto created = training::TorchTrainer::create({manifest, text, text, state, scratch, journal.get(), 1});
    REQUIRE(created.ok());
    trainer = std::move(created).value();
    REQUIRE(trainer->initialize().ok());
  }

  void compute(RoundIndex round) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    const wire::SampleRange all = volunteer.samples(round);
    for (SampleCount done = 0; done < all.count; done += volunteer.micro_batch) {
      const wire::SampleRange piece{round, all.lane, done, std::min(volunteer.micro_batch, all.count - done)};
      REQUIRE(trainer->train_batch(piece, sum).ok());
    }
  }

  Volunteer volunteer;
  optim::Optimizer optimizer;
  std::vector<float> state, scratch, sum;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  std::unique_ptr<training::TorchTrainer> trainer;
  bool synced = true;  // holds the state of the present round
};

// The reference: one process, one batch a round, no communication.
struct SingleProcess {
  SingleProcess(const wire::RunManifest& run, std::span<const std::uint8_t> text)
      : manifest(run), data(training::Dataset::open(run, text, 1).value()), optimizer(run) {
    state.resize(optimizer.state_size());
    gradient.resize(optimizer.parameter_count());
    state::fill_initial_state(manifest, state);
    const auto view = [](std::span<float> values) {
      return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::TensorOptions(at::kFloat));
    };
    model = models::make_model(manifest.model, view(std::span(state).first(gradient.size())), view(gradient));
  }

  // The mean gradient over all the samples, in one forward and one backward pass.
  std::vector<float> mean_gradient(const std::vector<wire::SampleRange>& ranges) {
    constexpr std::size_t kPlaces = 2;  // places of masked tokens, counted through the whole batch: models::Batch
    models::Batch whole;
    for (const wire::SampleRange& range : ranges) {
      auto batch = training::sample_batch(manifest, data, range);
      REQUIRE(batch.ok());
      if (whole.empty()) whole.resize(batch->size());
      for (std::size_t i = 0; i < batch->size(); ++i) {
        at::Tensor part = batch->at(i);
        if (!whole[i].defined()) {
          whole[i] = part;
          continue;
        }
        if (i == kPlaces) part = part + whole[i].size(0) * manifest.model.context;
        whole[i] = at::cat({whole[i], part});
      }
    }
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    model->loss(whole).backward();
    std::vector<float> mean = gradient;
    for (float& value : mean) value /= static_cast<float>(whole.front().size(0));
    return mean;
  }

  wire::RunManifest manifest;
  training::Dataset data;
  optim::Optimizer optimizer;
  std::vector<float> state, gradient;
  std::unique_ptr<models::Model> model;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
};

struct Swarm {
  Swarm(const wire::RunManifest& manifest, std::span<const std::uint8_t> text) {
    for (const Volunteer& volunteer : kVolunteers) peers.push_back(std::make_unique<Peer>(volunteer, manifest, text));
  }

  // The members of the round, by rank; those that were absent copy parameters and moments from one that was not.
  std::vector<Peer*> gather(RoundIndex round) {
    std::vector<Peer*> present;
    for (const auto& peer : peers) {
      if (peer->volunteer.present(round)) present.push_back(peer.get());
    }
    const auto donor = std::find_if(present.begin(), present.end(), [](const Peer* peer) { return peer->synced; });
    REQUIRE(donor != present.end());
    for (Peer* peer : present) {
      if (peer->synced) continue;
      peer->state = (*donor)->state;
      peer->journal->clear();
      peer->synced = true;
    }
    for (const auto& peer : peers) peer->synced = peer->volunteer.present(round);
    return present;
  }

  // Everybody computes, averages and steps. Returns the contributors of each stretch of the average.
  std::vector<ContributorRun> round(RoundIndex round, const std::vector<Peer*>& present) {
    averaging::GroupOptions options;
    options.members = present.size();
    options.vector_floats = static_cast<std::int64_t>(present.front()->sum.size());
    options.segment_floats = 2048;
    options.seed = static_cast<unsigned>(round);
    options.weights.clear();
    std::vector<averaging::Fault> faults;
    for (Rank rank = 0; rank < present.size(); ++rank) {
      const Volunteer& volunteer = present[rank]->volunteer;
      options.weights.push_back(volunteer.samples(round).count);
      options.shares.push_back(1.0 + volunteer.lane);
      if (round == kDeathRound && volunteer.lane == kDyingLane) {
        faults.push_back({.kind = averaging::Fault::Kind::kill_dirty, .rank = rank, .event = kDeathEvent});
      }
    }
    InMemoryGroup group(options, faults);
    for (Rank rank = 0; rank < present.size(); ++rank) {
      present[rank]->compute(round);
      group.input(rank) = present[rank]->sum;
    }
    group.run();
    std::vector<ContributorRun> runs;
    for (Rank rank = 0; rank < present.size(); ++rank) {
      present[rank]->synced = group.alive(rank);
      if (!group.alive(rank)) continue;
      REQUIRE(group.outcome(rank) != nullptr);
      REQUIRE(group.outcome(rank)->verdict == AveragingOutcome::Verdict::averaged);
      REQUIRE(present[rank]->trainer->step(round, group.output(rank)).ok());
      runs = group.outcome(rank)->contributors;
    }
    return runs;
  }

  std::vector<std::unique_ptr<Peer>> peers;
};

// Takes one step of the single process on the swarm's samples: for every stretch of coordinates, exactly those that the
// swarm's result contains there. It is one batch, except in a round in which a member died halfway.
void follow(SingleProcess& single, RoundIndex round, const std::vector<ContributorRun>& runs,
            const std::vector<Peer*>& present) {
  std::vector<float> mean(single.gradient.size());
  for (const ContributorRun& run : runs) {
    std::vector<wire::SampleRange> ranges;
    for (Rank rank = 0; rank < present.size(); ++rank) {
      if (run.members.test(rank)) ranges.push_back(present[rank]->volunteer.samples(round));
    }
    const std::vector<float> of_run = single.mean_gradient(ranges);
    std::copy_n(of_run.begin() + run.begin, run.floats, mean.begin() + run.begin);
  }
  REQUIRE(single.optimizer.step(round, mean, single.state, *single.journal).ok());
}

double distance(std::span<const float> a, std::span<const float> b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  return worst;
}

// Name of the parameter that differs most.
std::string worst_parameter(const wire::ModelOptions& model, std::span<const float> a, std::span<const float> b) {
  std::string name;
  double worst = -1;
  for (const wire::ParameterInfo& info : wire::model_layout(model)) {
    const double here = distance(a.subspan(info.offset, info.count), b.subspan(info.offset, info.count));
    if (here <= worst) continue;
    worst = here;
    name = info.name;
  }
  return name;
}

// Runs fifty rounds of both; returns the largest difference of a parameter at the end.
double difference_after_all_rounds(const wire::RunManifest& manifest, const std::vector<std::uint8_t>& text) {
  Swarm swarm(manifest, text);
  SingleProcess single(manifest, text);
  const std::vector<float> initial = single.state;
  const std::size_t parameters = single.gradient.size();
  for (RoundIndex round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    const std::vector<Peer*> present = swarm.gather(round);
    const std::vector<ContributorRun> runs = swarm.round(round, present);
    follow(single, round, runs, present);
    CHECK((runs.size() > 1) == (round == kDeathRound));
    const auto alive = [](const Peer* peer) { return peer->synced; };
    const Peer& first = **std::find_if(present.begin(), present.end(), alive);
    for (const Peer* peer : present) CHECK((!peer->synced || peer->state == first.state));
    if (round % 10 == 9) {
      MESSAGE(
          "after " << round + 1 << " rounds, largest difference of a parameter: "
                   << distance(std::span(first.state).first(parameters), std::span(single.state).first(parameters)));
    }
  }
  const auto survivor = swarm.gather(kRounds - 1).front();
  MESSAGE(word_of(manifest.optimizer.kind)
          << ": the parameter that differs most: " << worst_parameter(manifest.model, survivor->state, single.state));
  CHECK(distance(single.state, initial) > 1e-2);  // training has changed them
  return distance(std::span(survivor->state).first(parameters), std::span(single.state).first(parameters));
}

}  // namespace

TEST_CASE("fifty rounds of unequal peers that join, leave and die end where one process with all their samples ends") {
  for (const wire::OptimizerKind optimizer : all_values<wire::OptimizerKind>()) {
    const bool is_usual = optimizer == wire::OptimizerKind::adamw || optimizer == wire::OptimizerKind::muon;
    if (!is_usual && !starling::testing::is_long_suite()) continue;
    CAPTURE(word_of(optimizer));
    CHECK(difference_after_all_rounds(tiny_run(optimizer), words(3000)) <= 1e-5);
  }
}

TEST_CASE("so they do when an albert guesses words, and LAMB takes the steps") {
  CHECK(difference_after_all_rounds(tiny_albert(), golden::tokens(3000)) <= 1e-5);
}
