// The number of own steps between two gossip averages (wire::LocalOptions). Below a critical consensus distance,
// decentralized training is as good as averaging everything, so gossip need not be more frequent than keeps replicas
// there (consensus control: Kong et al., ICML 2021, arXiv 2102.04828). In that paper everybody's distance from the mean
// is known before each average. Here each meeting measures how far its members have come apart since the one before,
// and the next one comes when they should be as far apart as the bound allows. The bound is a fraction of the
// parameters' length: the consensus distance in starling status. Pure.
#pragma once

namespace starling::swarm {

class GossipInterval {
 public:
  // least: own steps, at least 1. bound: above 0; 0: always `least`.
  GossipInterval(int least, double bound) : least_(least), bound_(bound), steps_(least) {}

  // Own steps from one average to the next.
  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] bool measures() const { return bound_ > 0; }
  // Takes a measurement: a meeting of `members` (at least 2) has found this member at `distance` from their mean, over
  // the parameters' length, after `steps` of its steps since the average before. Members of a meeting have equal
  // parameters from there on.
  void on_mixed(double distance, int members, int steps);

 private:
  int least_;
  double bound_;
  int steps_;
};

}  // namespace starling::swarm
