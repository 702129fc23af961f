#include "shared/swarm/consensus_control.h"

namespace starling::swarm {
namespace {

constexpr double kKept = 0.9;  // of the average before, a step

}  // namespace

void ConsensusControl::on_gradients(double mean_norm) {
  norm_ = any_ ? kKept * norm_ + (1 - kKept) * mean_norm : mean_norm;
  any_ = true;
}

}  // namespace starling::swarm
