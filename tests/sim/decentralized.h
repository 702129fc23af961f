// Decentralized training after Wang et al., ICLR 2025 (arXiv 2410.11998): everybody steps on its own gradient of few
// samples, with moments of its own, while its parameters of the step before are averaged with a few others'
//   x_i ← Σ_j W_ij x_j - η · d_i(g_i(x_i))
// ("communicate while adapting": the gradient is that of the unmixed parameters, so gossip hides behind computing). The
// product's code forms the groups and takes the steps (shared/swarm, client/optim).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "shared/swarm/group_formation.h"
#include "tests/sim/teacher_problem.h"

namespace starling::sim {

struct DecentralizedSetup {
  // None: gradients are averaged over everybody instead (all-reduce), so there is one model.
  std::optional<swarm::FormationSpec> topology;
  wire::OptimizerOptions optimizer;
  double learning_rate = 1e-3;
  double final_fraction = 1;  // fraction of it to which it falls over all steps in half a cosine
  std::size_t workers = 16;
  int batch = 2;  // samples of a worker's step
  int steps = 4000;
  double failure_rate = 0;  // chance of each worker to miss a gossip average; it steps nevertheless
  int mix_every = 1;        // steps from one gossip average to the next
  // Above 0: gossip whenever ConsensusControl with this ratio asks for it, several times before a step if need
  // be.
  double consensus_distance_ratio = 0;
  // Above 0: gossip whenever swarm::GossipInterval, with this bound, lets the last worker gossip.
  double consensus_bound = 0;
};

struct DecentralizedResult {
  double excess_loss = 0;  // loss of the mean of all workers' parameters, in nats
  // consensus distance: root mean square of a worker's distance from that mean, over the mean's length
  double consensus_distance = 0;
  int gossips = 0;
};

// Equal arguments give equal results. on_step, if there is one, is called after each step. corrupt when training leaves
// the finite numbers.
Result<DecentralizedResult> train_decentralized(const DecentralizedSetup& setup, std::uint64_t seed,
                                                const std::function<void()>& on_step = {});

// Workers' models, each [parameters | moments], or the one that all have; and the gossip groups.
struct Replicas {
  std::vector<std::vector<float>> states;
  std::unique_ptr<swarm::GroupFormation> formation;
};

// Averages the first `parameters` floats of every replica that took part: took_part[i] != 0.
void mix(std::size_t parameters, std::span<const std::uint8_t> took_part, Replicas& replicas);
// Takes one step of every replica on its mean gradient, computed before the step's gossip.
Status step_all(const optim::Optimizer& optimizer, RoundIndex step, std::span<const std::vector<float>> gradients,
                Replicas& replicas);

}  // namespace starling::sim
