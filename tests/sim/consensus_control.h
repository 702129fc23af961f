// Decides when decentralized workers have to gossip: as soon as their consensus distance exceeds a fraction of the
// length of their gradients' noise. Below a critical distance decentralized training is as good as averaging
// everything; beyond it, more gossip helps, and short of it, less does not hurt. Gradients shrink as a model learns,
// and the allowed distance with them: Ξ <= ρ φ, Ξ the consensus distance and φ an exponential average of gradients'
// mean norm. Source: Kong et al., "Consensus control for decentralized deep learning", ICML 2021 (arXiv 2102.04828),
// which gossips several times a step where once is too little; here a step may also do without. Pure.
#pragma once

namespace starling::sim {

class ConsensusControl {
 public:
  // `ratio`: ρ, above 0. It has the unit of a learning rate; the larger, the less gossip.
  explicit ConsensusControl(double ratio) : ratio_(ratio) {}

  // Takes the mean of all workers' gradients' norms, once a step.
  void on_gradients(double mean_norm);
  // True if workers at that consensus distance (root mean square distance from their mean, Ξ) have to gossip, or to
  // gossip again.
  [[nodiscard]] bool must_mix(double consensus_distance) const { return consensus_distance > ratio_ * norm_; }

 private:
  double ratio_;
  double norm_ = 0;  // φ
  bool any_ = false;
};

}  // namespace starling::sim
