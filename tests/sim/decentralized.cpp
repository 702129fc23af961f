#include "tests/sim/decentralized.h"

#include <algorithm>
#include <cmath>

#include "client/optim/initial_state.h"
#include "shared/base/verify.h"
#include "shared/swarm/random_stream.h"

namespace starling::sim {
namespace {

void fill(std::vector<float>& values, float value) { std::fill(values.begin(), values.end(), value); }

// Σ_j W_ij x_j of one group, in the place of every member that took part.
void mix_group(std::span<const swarm::PeerIndex> group, std::span<const double> weights,
               std::span<const std::uint8_t> took_part, std::size_t parameters, std::span<std::vector<float>> states) {
  double weight = 0;
  for (const swarm::PeerIndex peer : group) weight += took_part[peer] != 0 ? weights[peer] : 0;
  if (!(weight > 0)) return;
  std::vector<float> mixed(parameters);
  for (const swarm::PeerIndex peer : group) {
    if (took_part[peer] == 0) continue;
    const auto share = static_cast<float>(weights[peer] / weight);
    for (std::size_t i = 0; i < parameters; ++i) mixed[i] += share * states[peer][i];
  }
  for (const swarm::PeerIndex peer : group) {
    if (took_part[peer] != 0) std::copy(mixed.begin(), mixed.end(), states[peer].begin());
  }
}

wire::RunManifest manifest_of(const DecentralizedSetup& setup, std::uint64_t seed) {
  wire::RunManifest manifest;
  manifest.model = TeacherProblem::model();
  manifest.optimizer = setup.optimizer;
  manifest.schedule = {.kind = "constant", .learning_rate = setup.learning_rate, .warmup_rounds = 0};
  manifest.seed = seed + 1;  // of the learner's first parameters
  return manifest;
}

std::vector<float> mean_of(std::span<const std::vector<float>> states, std::size_t parameters) {
  std::vector<float> mean(parameters);
  const float share = 1.0F / static_cast<float>(states.size());
  for (const std::vector<float>& state : states) {
    for (std::size_t i = 0; i < parameters; ++i) mean[i] += share * state[i];
  }
  return mean;
}

DecentralizedResult judge(const TeacherProblem& problem, std::span<const std::vector<float>> states,
                          std::size_t parameters) {
  const std::vector<float> mean = mean_of(states, parameters);
  double length = 0, apart = 0;
  for (std::size_t i = 0; i < parameters; ++i) {
    length += static_cast<double>(mean[i]) * mean[i];
    for (const std::vector<float>& state : states) {
      const double difference = static_cast<double>(state[i]) - mean[i];
      apart += difference * difference;
    }
  }
  return {problem.excess_loss(mean), std::sqrt(apart / (static_cast<double>(states.size()) * length))};
}

// Everybody's mean gradient of its own samples of a step, at states[i], or at states[0] where there is only that.
void compute_gradients(const TeacherProblem& problem, const DecentralizedSetup& setup, int step,
                       std::span<const std::vector<float>> states, std::span<std::vector<float>> gradients) {
  const std::size_t parameters = gradients.front().size();
  for (std::vector<float>& gradient : gradients) fill(gradient, 0);
  const auto batch = static_cast<std::uint64_t>(setup.batch);
  for (std::uint64_t worker = 0; worker < setup.workers; ++worker) {
    const std::uint64_t first = (static_cast<std::uint64_t>(step) * setup.workers + worker) * batch;
    const std::size_t replica = worker % states.size();
    problem.add_gradient(std::span(states[replica]).first(parameters), first, setup.batch, gradients[replica]);
  }
  const std::size_t samples = batch * setup.workers / states.size();
  for (std::vector<float>& gradient : gradients) {
    for (float& value : gradient) value /= static_cast<float>(samples);
  }
}

}  // namespace

Status decentralized_step(const optim::Optimizer& optimizer, RoundIndex step, std::span<const std::uint8_t> took_part,
                          std::span<const std::vector<float>> gradients, Replicas& replicas) {
  const std::vector<std::uint8_t> present(replicas.states.size(), 1);
  swarm::GroupFormation& formation = *replicas.formation;
  const swarm::Groups groups = formation.form(present);
  for (std::size_t g = 0; g < groups.count(); ++g) {
    mix_group(groups.group(g), formation.weights(), took_part, optimizer.parameter_count(), replicas.states);
  }
  formation.settle(groups, took_part);
  const auto journal = std::make_unique<optim::StepJournal>();
  for (std::size_t k = 0; k < replicas.states.size(); ++k) {
    journal->clear();
    STARLING_TRY(optimizer.step(step, gradients[k], replicas.states[k], *journal));
  }
  return {};
}

Result<DecentralizedResult> train_decentralized(const DecentralizedSetup& setup, std::uint64_t seed,
                                                const std::function<void()>& on_step) {
  VERIFY(setup.workers > 0 && setup.batch > 0);
  const TeacherProblem problem(seed);
  const wire::RunManifest manifest = manifest_of(setup, seed);
  const optim::Optimizer optimizer(manifest);
  const std::size_t count = setup.topology ? setup.workers : 1;
  Replicas replicas{
      {count, std::vector<float>(optimizer.state_size())},
      swarm::make_formation(setup.topology.value_or(swarm::FormationSpec{}), std::vector<double>(count, 1.0), seed)};
  for (std::vector<float>& state : replicas.states) optim::fill_initial_state(manifest, state);
  std::vector<std::vector<float>> gradients(count, std::vector<float>(optimizer.parameter_count()));
  swarm::RandomStream weather(seed ^ 0xfa11);
  std::vector<std::uint8_t> took_part(count);
  for (int step = 0; step < setup.steps; ++step) {
    compute_gradients(problem, setup, step, replicas.states, gradients);
    for (std::uint8_t& took : took_part) took = weather.uniform() >= setup.failure_rate ? 1 : 0;
    STARLING_TRY(decentralized_step(optimizer, step, took_part, gradients, replicas));
    if (on_step) on_step();
  }
  return judge(problem, replicas.states, optimizer.parameter_count());
}

}  // namespace starling::sim
