#include "shared/swarm/gossip_interval.h"

#include <algorithm>
#include <cmath>

#include "shared/base/verify.h"

namespace starling::swarm {
namespace {

constexpr double kChangeMost = 2;  // from one meeting to the next: a single one measures only its own members
constexpr double kStepsMost = 1e6;

}  // namespace

void GossipInterval::on_mixed(double distance, int members, int steps) {
  VERIFY(members > 1);
  if (!measures() || steps < 1) return;
  // A few members are nearer to their own mean than to that of all (Bessel's correction).
  const double consensus_distance = distance * std::sqrt(members / (members - 1.0));
  const double change =
      consensus_distance > 0 ? std::clamp(bound_ / consensus_distance, 1 / kChangeMost, kChangeMost) : kChangeMost;
  steps_ = static_cast<int>(std::clamp(std::round(steps * change), static_cast<double>(least_), kStepsMost));
}

}  // namespace starling::swarm
