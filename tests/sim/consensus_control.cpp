#include "tests/sim/consensus_control.h"

namespace starling::sim {
namespace {

constexpr double kKept = 0.9;  // weight of the average before, in a step

}  // namespace

void ConsensusControl::on_gradients(double mean_norm) {
  norm_ = any_ ? kKept * norm_ + (1 - kKept) * mean_norm : mean_norm;
  any_ = true;
}

}  // namespace starling::sim
