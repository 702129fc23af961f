// Decentralized training as in Wang et al., ICLR 2025 (arXiv 2410.11998): everybody steps on its own gradient of few
// samples, with moments of its own, while its parameters of the step before are mixed with a few others'
//   x_i ← Σ_j W_ij x_j - η · d_i(g_i(x_i))
// ("communicate while adapting": the gradient is that of the unmixed parameters, so mixing hides behind computing).
// Groups are formed and steps taken by the product's code (shared/swarm, client/optim).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/base/result.h"
#include "shared/swarm/group_formation.h"
#include "shared/wire/run_manifest.h"
#include "tests/sim/teacher_problem.h"

namespace starling::sim {

struct DecentralizedSetup {
  // None: gradients are averaged over everybody instead (all-reduce), so there is one model.
  std::optional<swarm::FormationSpec> topology;
  wire::OptimizerOptions optimizer;
  double learning_rate = 1e-3;
  double final_fraction = 1;  // of it, to which it falls over all steps in half a cosine
  std::size_t workers = 16;
  int batch = 2;  // samples of a worker's step
  int steps = 4000;
  double failure_rate = 0;  // chance of each worker to miss a mixing; it steps nevertheless
  int mix_every = 1;        // steps from one mixing to the next
  // Above 0: mixings whenever swarm::ConsensusControl of this ratio asks for them, several before a step if need be.
  double spread_ratio = 0;
  // Above 0: a mixing whenever swarm::MixingInterval, with this bound, lets the last worker mix.
  double consensus_bound = 0;
};

struct DecentralizedResult {
  double excess_loss = 0;  // of the mean of all workers' parameters, in nats
  double spread = 0;       // root mean square of a worker's distance from that mean, over the mean's length
  int mixings = 0;
};

// Equal arguments give equal results. on_step, if there is one, is called after each step. corrupt when training leaves
// the finite numbers.
Result<DecentralizedResult> train_decentralized(const DecentralizedSetup& setup, std::uint64_t seed,
                                                const std::function<void()>& on_step = {});

// Workers' models, each [parameters | moments], or the one that all have; and who mixes with whom.
struct Replicas {
  std::vector<std::vector<float>> states;
  std::unique_ptr<swarm::GroupFormation> formation;
};

// Mixes the first so many floats of every replica that took part: took_part[i] != 0.
void mix(std::size_t parameters, std::span<const std::uint8_t> took_part, Replicas& replicas);
// One step of every replica on its mean gradient, taken before the step's mixing.
Status step_all(const optim::Optimizer& optimizer, RoundIndex step, std::span<const std::vector<float>> gradients,
                Replicas& replicas);

}  // namespace starling::sim
