// How many own steps lie between two mixings (wire::LocalOptions). Below a critical distance between replicas,
// decentralized training is as good as averaging everything, so mixings need not be more frequent than keeps them there
// (consensus control: Kong et al., ICML 2021, arXiv 2102.04828). There everybody's distance from the mean is known
// before each mixing; here each mixing finds, of those who meet in it, how far they had come apart since the one
// before, and the next one comes when they should be as far apart as they may be. The bound is a share of the
// parameters' length: what starling status shows as the replicas' spread. Pure.
#pragma once

namespace starling::swarm {

class MixingInterval {
 public:
  // least: own steps, at least 1. bound: above 0; 0: always `least`.
  MixingInterval(int least, double bound) : least_(least), bound_(bound), steps_(least) {}

  // From one mixing to the next.
  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] bool measures() const { return bound_ > 0; }
  // A mixing of so many members (at least 2) has found this one that far from their mean, over the parameters' length,
  // so many of its steps after the mixing before. Members that meet count alike from there on.
  void on_mixed(double distance, int members, int steps);

 private:
  int least_;
  double bound_;
  int steps_;
};

}  // namespace starling::swarm
