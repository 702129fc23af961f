// Local steps: workers step on gradients of their own few samples, and meet after a number of steps. The method is the
// meeting's rule. Compositions are the product's (shared/manifest/algorithms.h), and so are optimizers,
// pseudo-gradients and codecs (client/optim, client/averaging).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "shared/base/result.h"

namespace starling::sim {

enum class LocalMethod : std::uint8_t {
  fed_avg,           // the mean of everybody's parameters
  diloco,            // a Nesterov step along everybody's mean displacement
  streaming_diloco,  // diloco on a part of the parameters, kFragments in turn
  eager_diloco,      // diloco; until the mean is there, a step along one's own displacement takes its place
  sparse_loco,       // the mean of everybody's sparse displacements, with error feedback
  gossip_pairs,      // the mean of two workers' parameters, pairs drawn again every time
  noloco,            // gossip in pairs with momentum (client/optim/gossip_step.h)
};
std::string_view to_string(LocalMethod method);

constexpr int kFragments = 5;

struct LocalSetup {
  LocalMethod method = LocalMethod::diloco;
  int interval = 50;            // steps from one meeting to the next
  double learning_rate = 1e-3;  // rate of everybody's AdamW, constant
  std::size_t workers = 8;
  int batch = 4;     // samples of a worker's step
  int steps = 4000;  // a multiple of the interval
  // Methods in pairs only: after this number of meetings one is of all, who go on from the mean of their parameters; 0:
  // none is.
  int mean_every = 0;
  // Other methods only: own steps that go on from the begin of a meeting's averaging to its end, fewer than from one
  // meeting to the next; 0: nobody steps meanwhile, which streaming and eager DiLoCo do not have.
  int delay = 0;
};

// Returns the excess loss, in nats, of the mean of all workers' parameters after the last meeting
// (tests/sim/teacher_problem.h). Equal arguments give equal losses. on_step, if there is one, is called after each
// step. corrupt when training leaves the finite numbers.
Result<double> train_locally(const LocalSetup& setup, std::uint64_t seed, const std::function<void()>& on_step = {});

}  // namespace starling::sim
