#include "tests/sim/step_recurrences.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "shared/base/verify.h"

namespace starling::sim {

double ring_all_reduce_s(std::size_t workers, double bytes, double bytes_per_s, double latency_s) {
  VERIFY(workers > 0 && bytes_per_s > 0);
  const auto n = static_cast<double>(workers);
  return 2 * (n - 1) * (bytes / n / bytes_per_s + latency_s);
}

AllReduceSteps::AllReduceSteps(StepCosts costs) : costs_(std::move(costs)) {
  VERIFY(costs_.backward_s.size() == costs_.communication_s.size());
}

double AllReduceSteps::step(std::span<const double> slowdown) {
  VERIFY(!slowdown.empty());
  // All begin together, so the slowest is last with every bucket.
  const double slowest = *std::max_element(slowdown.begin(), slowdown.end());
  double ready_s = now_s_ + slowest * costs_.forward_s;
  double averaged_s = now_s_;
  for (std::size_t bucket = 0; bucket < costs_.backward_s.size(); ++bucket) {
    ready_s += slowest * costs_.backward_s[bucket];
    averaged_s = std::max(averaged_s, ready_s) + costs_.communication_s[bucket];
  }
  return now_s_ = averaged_s;
}

DecentralizedSteps::DecentralizedSteps(StepCosts costs, std::size_t workers)
    : costs_(std::move(costs)), now_s_(workers), mixed_s_(workers * costs_.backward_s.size()), line_free_s_(workers) {
  VERIFY(workers > 0 && costs_.backward_s.size() == costs_.communication_s.size());
}

double DecentralizedSteps::step(std::span<const double> slowdown, const swarm::Groups& groups) {
  VERIFY(slowdown.size() == now_s_.size());
  for (std::size_t i = 0; i < now_s_.size(); ++i) now_s_[i] += slowdown[i] * costs_.forward_s;
  for (std::size_t bucket = 0; bucket < costs_.backward_s.size(); ++bucket) {
    for (std::size_t i = 0; i < now_s_.size(); ++i) {
      now_s_[i] = std::max(now_s_[i] + slowdown[i] * costs_.backward_s[bucket], mixed_s(i, bucket));
    }
    for (std::size_t g = 0; g < groups.count(); ++g) {
      const std::span<const swarm::PeerIndex> group = groups.group(g);
      if (group.size() < 2) continue;
      double begin_s = 0;
      for (const swarm::PeerIndex i : group) begin_s = std::max({begin_s, now_s_[i], line_free_s_[i]});
      for (const swarm::PeerIndex i : group) {
        mixed_s(i, bucket) = line_free_s_[i] = begin_s + costs_.communication_s[bucket];
      }
    }
  }
  return std::accumulate(now_s_.begin(), now_s_.end(), 0.0) / static_cast<double>(now_s_.size());
}

}  // namespace starling::sim
