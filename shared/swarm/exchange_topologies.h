// Sparse meetings for decentralized optimizers, which average parameters a little every step instead of all at once
// (Wang et al., ICLR 2025, arXiv 2410.11998, section 4). Everybody is in one group a step and its members end with
// equal values, so with equal weights a step's mixing matrix is symmetric and doubly stochastic. Positions are those of
// the peers present, in their order: any number of them, and another number the next step. A peer without a partner
// keeps its value.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/swarm/group_formation.h"

namespace starling::swarm {

// Neighbours on a ring, to one side and the other in turn.
class RingPairs final : public GroupFormation {
 public:
  explicit RingPairs(std::vector<double> weights) : GroupFormation(std::move(weights)) {}
  Groups form(std::span<const std::uint8_t> present) override;

 private:
  std::size_t step_ = 0;
};

// The one-peer exponential graph: partners differ in bit t of the position, t = 0, 1, … and again from 0. With 2^k
// peers and no failures everybody has the exact average after k steps.
class ExponentialPairs final : public GroupFormation {
 public:
  explicit ExponentialPairs(std::vector<double> weights) : GroupFormation(std::move(weights)) {}
  Groups form(std::span<const std::uint8_t> present) override;

 private:
  std::size_t step_ = 0;
};

// The alternating exponential ring, of hosts with several devices each: hosts meet as in the exponential graph, with
// all their devices, but only every other pair of them in a step; the others average among their own devices and have
// their turn in the next step, with the same partner. So half of the hosts at most use the network at a time.
class AlternatingExponentialRing final : public GroupFormation {
 public:
  // Peers i · devices … (i + 1) · devices - 1 are the devices of host i.
  AlternatingExponentialRing(std::uint32_t devices, std::vector<double> weights)
      : GroupFormation(std::move(weights)), devices_(devices) {}
  Groups form(std::span<const std::uint8_t> present) override;

 private:
  std::uint32_t devices_;
  std::size_t step_ = 0;
};

}  // namespace starling::swarm
