#include "shared/swarm/gradient_tracking.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace starling::swarm;

namespace {

constexpr std::size_t kPeers = 3;
using Values = std::array<double, kPeers>;

// Three peers in a row, by Metropolis' weights.
constexpr double kGossip[kPeers][kPeers] = {{2.0 / 3, 1.0 / 3, 0}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {0, 1.0 / 3, 2.0 / 3}};
constexpr Values kCurvature{1, 2, 0.5}, kTarget{4, -1, 7};

Values mixed(const Values& z) {
  Values sum{};
  for (std::size_t i = 0; i < kPeers; ++i) {
    for (std::size_t j = 0; j < kPeers; ++j) sum[i] += kGossip[i][j] * z[j];
  }
  return sum;
}

double gradient(std::size_t peer, double x) { return kCurvature[peer] * (x - kTarget[peer]); }

// K accelerated gossips, as the paper states them (algorithm 3).
Values accelerated(const Values& start, int gossips, double momentum) {
  Values before = start, now = start;
  for (int k = 0; k < gossips; ++k) {
    const Values sum = mixed(now);
    for (std::size_t i = 0; i < kPeers; ++i) {
      const double next = (1 + momentum) * sum[i] - momentum * before[i];
      before[i] = now[i];
      now[i] = next;
    }
  }
  return now;
}

class Peers {
 public:
  explicit Peers(const TrackingOptions& options) : peers_(kPeers, GradientTracking({0.0}, options)) {}

  void step() {
    for (std::size_t i = 0; i < kPeers; ++i) peers_[i].descend(std::array{gradient(i, at(i))});
    while (!gossip()) {
    }
  }
  [[nodiscard]] double at(std::size_t peer) const { return peers_[peer].parameters()[0]; }

 private:
  bool gossip() {
    Values x{}, y{};
    for (std::size_t i = 0; i < kPeers; ++i) {
      x[i] = peers_[i].message()[0];
      y[i] = peers_[i].message()[1];
    }
    const Values x_mixed = mixed(x), y_mixed = mixed(y);
    bool over = false;
    for (std::size_t i = 0; i < kPeers; ++i) over = peers_[i].gossip(std::array{x_mixed[i], y_mixed[i]});
    return over;
  }

  std::vector<GradientTracking> peers_;
};

}  // namespace

TEST_CASE("gradient tracking follows its formula, with plain and with accelerated gossip") {
  for (const TrackingOptions options : {TrackingOptions{0.1, 1, 0}, TrackingOptions{0.2, 3, 0.3}}) {
    Peers peers(options);
    Values x{}, y{}, last{};
    for (int step = 0; step < 20; ++step) {
      Values ahead{};
      for (std::size_t i = 0; i < kPeers; ++i) {
        y[i] += gradient(i, x[i]) - last[i];
        last[i] = gradient(i, x[i]);
        ahead[i] = x[i] - options.step * y[i];
      }
      x = accelerated(ahead, options.gossips, options.momentum);
      y = accelerated(y, options.gossips, options.momentum);
      peers.step();
      for (std::size_t i = 0; i < kPeers; ++i) CHECK(peers.at(i) == doctest::Approx(x[i]).epsilon(1e-12));
    }
  }
}

TEST_CASE("everybody ends at the lowest point of all losses together, not at its own") {
  double pull = 0, stiffness = 0;
  for (std::size_t i = 0; i < kPeers; ++i) {
    pull += kCurvature[i] * kTarget[i];
    stiffness += kCurvature[i];
  }
  for (const TrackingOptions options :
       {TrackingOptions{0.1, 1, 0}, TrackingOptions{0.2, 3, gossip_momentum(2.0 / 3)}}) {
    Peers peers(options);
    for (int step = 0; step < 1000; ++step) peers.step();
    for (std::size_t i = 0; i < kPeers; ++i) CHECK(std::abs(peers.at(i) - pull / stiffness) < 1e-12);
  }
}

TEST_CASE("momentum of gossip grows from none where everybody meets at once towards one where news are slow") {
  CHECK(gossip_momentum(0) == 0);
  CHECK(gossip_momentum(0.6) == doctest::Approx(1.0 / 9));  // the root is 0.8
  CHECK(gossip_momentum(0.999) > 0.9);
}
