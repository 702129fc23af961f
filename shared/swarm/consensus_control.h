// When decentralized workers have to mix their parameters: as soon as these are further apart than a share of what
// their gradients' noise is long. Below a critical spread decentralized training is as good as averaging everything;
// beyond it, more mixing helps, and short of it, less does not hurt. Gradients shrink as a model learns, and the
// spread that is allowed with them: Ξ <= ρ φ, Ξ the spread and φ an exponential average of gradients' mean norm.
// Source: Kong et al., "Consensus control for decentralized deep learning", ICML 2021 (arXiv 2102.04828), which mixes
// several times a step where that is too little; here a step may as well do without. Pure.
#pragma once

namespace starling::swarm {

class ConsensusControl {
 public:
  // ρ, above 0. It has the unit of a learning rate; the larger, the less mixing.
  explicit ConsensusControl(double ratio) : ratio_(ratio) {}

  // Once a step: the mean of all workers' gradients' norms.
  void on_gradients(double mean_norm);
  // Whether workers whose parameters are that far from their mean (root mean square, Ξ) have to mix, or to mix again.
  [[nodiscard]] bool must_mix(double spread) const { return spread > ratio_ * norm_; }

 private:
  double ratio_;
  double norm_ = 0;  // φ
  bool any_ = false;
};

}  // namespace starling::swarm
