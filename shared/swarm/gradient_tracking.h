// Gradient tracking: peers that hold different data and hear nobody but their neighbours find the optimum of all their
// losses together, each of them exactly, with a constant step. Gossip of parameters alone (D-PSGD) ends where everybody
// has been pulled towards its own data.
//   x ← G(x - η y)        y ← G(y) + g(x) - g(x of the step before)        y begins with g(x)
// The mean of all y is that of all gradients, whatever G does, if it keeps means. G is K gossips with everybody's
// neighbours, accelerated by looking ahead:
//   z ← (1 + κ) W z - κ z of the gossip before        κ = (1 - √(1 - λ²)) / (1 + √(1 - λ²))
// W is symmetric and doubly stochastic, λ its second largest eigenvalue. Source: DeTAG, Lu and De Sa, "Optimal
// complexity in decentralized training", ICML 2021 (arXiv 2006.08085, algorithms 2 and 3); with K = 1 and κ = 0 it is
// gradient tracking after Qu and Li 2018 (1605.07112). Pure; a peer belongs to one thread.
#pragma once

#include <span>
#include <vector>

namespace starling::swarm {

// κ for a λ from 0 to below 1. With K = 1 it diverges on a ring: differences between neighbours change sign in a gossip
// and grow by the momentum, and no second gossip takes that back.
double gossip_momentum(double second_eigenvalue);

// The constants of the formulas above, equal for all peers.
struct TrackingOptions {
  double step = 0;      // η
  int gossips = 1;      // K
  double momentum = 0;  // κ
};

// One peer. A step: the gradient at parameters() goes to descend(); then K times everybody sends its neighbours its
// message(), and W's weighted sum of theirs and the own one goes to gossip(). If a peer has not heard a neighbour, that
// neighbour must not have heard the peer either, and the weight goes to the own message: so W stays symmetric.
class GradientTracking {
 public:
  GradientTracking(std::vector<double> start, const TrackingOptions& options);

  [[nodiscard]] std::span<const double> parameters() const { return parameters_; }
  void descend(std::span<const double> gradient);
  // [x | y], twice the length of the parameters. Valid until the next call that is not const.
  [[nodiscard]] std::span<const double> message() const { return now_; }
  // Returns true if that was the step's last gossip: parameters() are new.
  bool gossip(std::span<const double> mixed);

 private:
  TrackingOptions options_;
  std::vector<double> parameters_;
  std::vector<double> gradient_;  // the last one; zero before the first
  std::vector<double> now_;       // z: [x | y]
  std::vector<double> before_;    // z of the gossip before
  int gossips_ = 0;               // gossips of this step so far
};

}  // namespace starling::swarm
