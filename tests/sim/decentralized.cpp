#include "tests/sim/decentralized.h"

#include <algorithm>
#include <cmath>

#include "shared/base/verify.h"
#include "shared/state/initial_state.h"
#include "shared/swarm/gossip_interval.h"
#include "shared/swarm/random_stream.h"
#include "tests/sim/consensus_control.h"

namespace starling::sim {
namespace {

void fill(std::vector<float>& values, float value) { std::fill(values.begin(), values.end(), value); }

// Puts Σ_j W_ij x_j of one group in the place of every member that took part.
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
  manifest.schedule = {.kind = setup.final_fraction < 1 ? wire::ScheduleKind::cosine : wire::ScheduleKind::constant,
                       .learning_rate = setup.learning_rate,
                       .warmup_rounds = 0,
                       .total_rounds = setup.steps,
                       .final_fraction = setup.final_fraction};
  manifest.seed = seed + 1;  // seed of the learner's first parameters
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

double length(std::span<const float> values) {
  double square = 0;
  for (const float value : values) square += static_cast<double>(value) * value;
  return std::sqrt(square);
}

// Root mean square of a worker's distance from the mean of all.
double consensus_distance_of(std::span<const std::vector<float>> states, std::span<const float> mean) {
  double square = 0;
  for (const std::vector<float>& state : states) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double difference = static_cast<double>(state[i]) - mean[i];
      square += difference * difference;
    }
  }
  return std::sqrt(square / static_cast<double>(states.size()));
}

// Computes everybody's mean gradient of its own samples of a step, at states[i], or at states[0] if it is the only one.
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

// Decides at which of a step's chances to gossip it happens.
class GossipPlan {
 public:
  GossipPlan(const DecentralizedSetup& setup, std::size_t parameters)
      : setup_(setup),
        parameters_(parameters),
        control_(setup.consensus_distance_ratio),
        intervals_(setup.workers, swarm::GossipInterval(setup.mix_every, setup.consensus_bound)) {}

  // Returns how often there was gossip.
  int mix_before(int step, std::span<const std::vector<float>> gradients, std::span<const std::uint8_t> took_part,
                 Replicas& replicas) {
    if (setup_.consensus_bound > 0) return mix_when_due(took_part, replicas);
    if (!(setup_.consensus_distance_ratio > 0)) {
      if (step % setup_.mix_every != 0) return 0;
      mix(parameters_, took_part, replicas);
      return 1;
    }
    double norm = 0;
    for (const std::vector<float>& gradient : gradients) norm += length(gradient);
    control_.on_gradients(norm / static_cast<double>(gradients.size()));
    int gossips = 0;
    for (; gossips < kGossipsMax && control_.must_mix(consensus_distance(replicas)); ++gossips) {
      mix(parameters_, took_part, replicas);
    }
    return gossips;
  }

 private:
  static constexpr int kGossipsMax = 8;  // limit for a step

  // Gossips like volunteers do: each knows how far it was from the one that it has met, and those two wait for each
  // other.
  int mix_when_due(std::span<const std::uint8_t> took_part, Replicas& replicas) {
    const auto earlier = [](const auto& a, const auto& b) { return a.steps() < b.steps(); };
    if (++since_ < std::max_element(intervals_.begin(), intervals_.end(), earlier)->steps()) return 0;
    std::vector<std::vector<float>> sent = replicas.states;
    mix(parameters_, took_part, replicas);
    for (std::size_t k = 0; k < sent.size(); ++k) {
      const std::span<const float> mixed = std::span(replicas.states[k]).first(parameters_);
      for (std::size_t i = 0; i < mixed.size(); ++i) sent[k][i] -= mixed[i];
      const double distance = length(std::span(sent[k]).first(parameters_));
      if (distance > 0) intervals_[k].on_mixed(distance / length(mixed), 2, since_);
    }
    since_ = 0;
    return 1;
  }

  [[nodiscard]] double consensus_distance(const Replicas& replicas) const {
    return consensus_distance_of(replicas.states, mean_of(replicas.states, parameters_));
  }

  const DecentralizedSetup& setup_;
  std::size_t parameters_;
  ConsensusControl control_;
  std::vector<swarm::GossipInterval> intervals_;
  int since_ = 0;  // steps
};

}  // namespace

void mix(std::size_t parameters, std::span<const std::uint8_t> took_part, Replicas& replicas) {
  const std::vector<std::uint8_t> present(replicas.states.size(), 1);
  swarm::GroupFormation& formation = *replicas.formation;
  const swarm::Groups groups = formation.form(present);
  for (std::size_t g = 0; g < groups.count(); ++g) {
    mix_group(groups.group(g), formation.weights(), took_part, parameters, replicas.states);
  }
  formation.settle(groups, took_part);
}

Status step_all(const optim::Optimizer& optimizer, RoundIndex step, std::span<const std::vector<float>> gradients,
                Replicas& replicas) {
  const auto journal = std::make_unique<optim::StepJournal>();
  for (std::size_t k = 0; k < replicas.states.size(); ++k) {
    journal->clear();
    STARLING_TRY(optimizer.step(step, gradients[k], replicas.states[k], *journal));
  }
  return {};
}

Result<DecentralizedResult> train_decentralized(const DecentralizedSetup& setup, std::uint64_t seed,
                                                const std::function<void()>& on_step) {
  VERIFY(setup.workers > 0 && setup.batch > 0 && setup.mix_every > 0);
  const TeacherProblem problem(seed);
  const wire::RunManifest manifest = manifest_of(setup, seed);
  const optim::Optimizer optimizer(manifest);
  const std::size_t count = setup.topology ? setup.workers : 1;
  Replicas replicas{
      {count, std::vector<float>(optimizer.state_size())},
      swarm::make_formation(setup.topology.value_or(swarm::FormationSpec{}), std::vector<double>(count, 1.0), seed)};
  for (std::vector<float>& state : replicas.states) state::fill_initial_state(manifest, state);
  std::vector<std::vector<float>> gradients(count, std::vector<float>(optimizer.parameter_count()));
  swarm::RandomStream weather(seed ^ 0xfa11);
  std::vector<std::uint8_t> took_part(count);
  GossipPlan plan(setup, optimizer.parameter_count());
  DecentralizedResult result;
  for (int step = 0; step < setup.steps; ++step) {
    compute_gradients(problem, setup, step, replicas.states, gradients);
    for (std::uint8_t& took : took_part) took = weather.uniform() >= setup.failure_rate ? 1 : 0;
    result.gossips += plan.mix_before(step, gradients, took_part, replicas);
    STARLING_TRY(step_all(optimizer, step, gradients, replicas));
    if (on_step) on_step();
  }
  const std::vector<float> mean = mean_of(replicas.states, optimizer.parameter_count());
  result.excess_loss = problem.excess_loss(mean);
  result.consensus_distance = consensus_distance_of(replicas.states, mean) / length(mean);
  return result;
}

}  // namespace starling::sim
