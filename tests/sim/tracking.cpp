#include "tests/sim/tracking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "shared/base/verify.h"
#include "shared/swarm/gradient_tracking.h"
#include "tests/sim/normal_values.h"

namespace starling::sim {
namespace {

using swarm::GradientTracking;
using Vector = std::vector<double>;

constexpr std::size_t kDims = 10;
constexpr double kCurvatureMin = 0.5, kCurvatureMax = 1.5;
constexpr double kTargetRadius = 10;

class Quadratics {
 public:
  Quadratics(std::size_t peers, std::uint64_t seed) : curvature_(peers), target_(peers) {
    swarm::RandomStream random(seed);
    const Vector centre = normal_values(kDims, random);
    Vector phase(kDims);
    for (double& angle : phase) angle = 2 * std::numbers::pi * random.uniform();
    Vector pull(kDims), stiffness(kDims);
    for (std::size_t i = 0; i < peers; ++i) {
      for (std::size_t d = 0; d < kDims; ++d) {
        const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(peers);
        target_[i].push_back(centre[d] + kTargetRadius * std::cos(turn + phase[d]));
        curvature_[i].push_back(kCurvatureMin + (kCurvatureMax - kCurvatureMin) * random.uniform());
        pull[d] += curvature_[i][d] * target_[i][d];
        stiffness[d] += curvature_[i][d];
      }
    }
    for (std::size_t d = 0; d < kDims; ++d) lowest_.push_back(pull[d] / stiffness[d]);
  }

  [[nodiscard]] Vector gradient(std::size_t peer, std::span<const double> at) const {
    Vector gradient(kDims);
    for (std::size_t d = 0; d < kDims; ++d) gradient[d] = curvature_[peer][d] * (at[d] - target_[peer][d]);
    return gradient;
  }

  // Returns infinity for values that are not numbers.
  [[nodiscard]] double distance(std::span<const double> from) const {
    double square = 0;
    for (std::size_t d = 0; d < kDims; ++d) square += (from[d] - lowest_[d]) * (from[d] - lowest_[d]);
    return std::isfinite(square) ? std::sqrt(square) : std::numeric_limits<double>::infinity();
  }

 private:
  std::vector<Vector> curvature_, target_;
  Vector lowest_;
};

// W: a third of each neighbour's value and of the own one.
Vector ring_mean(std::span<const double> left, std::span<const double> own, std::span<const double> right) {
  Vector mean(own.size());
  for (std::size_t k = 0; k < own.size(); ++k) mean[k] = (left[k] + own[k] + right[k]) / 3;
  return mean;
}

double second_eigenvalue(std::size_t peers) {
  return (1 + 2 * std::cos(2 * std::numbers::pi / static_cast<double>(peers))) / 3;
}

// Returns everybody's ring_mean() of message(i).
template <typename Message>
std::vector<Vector> gossip(std::size_t peers, const Message& message) {
  std::vector<Vector> mixed;
  for (std::size_t i = 0; i < peers; ++i) {
    mixed.push_back(ring_mean(message((i + peers - 1) % peers), message(i), message((i + 1) % peers)));
  }
  return mixed;
}

Vector d_psgd_errors(const Quadratics& problem, const TrackingSetup& setup) {
  std::vector<Vector> x(setup.peers, Vector(kDims));
  Vector errors;
  for (int round = 0; round <= setup.rounds; ++round) {
    double worst = 0;
    for (const Vector& one : x) worst = std::max(worst, problem.distance(one));
    errors.push_back(worst);
    std::vector<Vector> mixed = gossip(setup.peers, [&](std::size_t i) { return std::span<const double>(x[i]); });
    for (std::size_t i = 0; i < setup.peers; ++i) {
      const Vector gradient = problem.gradient(i, x[i]);
      for (std::size_t d = 0; d < kDims; ++d) x[i][d] = mixed[i][d] - setup.step * gradient[d];
    }
  }
  return errors;
}

Vector tracked_errors(const Quadratics& problem, const TrackingSetup& setup) {
  swarm::TrackingOptions options{.step = setup.step};
  if (setup.method == TrackingMethod::detag) {
    options.gossips = setup.gossips;
    options.momentum = swarm::gossip_momentum(second_eigenvalue(setup.peers));
  }
  std::vector<GradientTracking> peers(setup.peers, GradientTracking(Vector(kDims), options));
  Vector errors;
  for (int round = 0; round <= setup.rounds; ++round) {
    double worst = 0;
    for (std::size_t i = 0; i < setup.peers; ++i) {
      worst = std::max(worst, problem.distance(peers[i].parameters()));
      if (round % options.gossips == 0) peers[i].descend(problem.gradient(i, peers[i].parameters()));
    }
    errors.push_back(worst);
    const std::vector<Vector> mixed = gossip(setup.peers, [&](std::size_t i) { return peers[i].message(); });
    for (std::size_t i = 0; i < setup.peers; ++i) peers[i].gossip(mixed[i]);
  }
  return errors;
}

}  // namespace

std::string_view to_string(TrackingMethod method) {
  switch (method) {
    case TrackingMethod::d_psgd:
      return "D-PSGD";
    case TrackingMethod::gradient_tracking:
      return "gradient tracking";
    case TrackingMethod::detag:
      return "DeTAG";
  }
  return {};
}

std::vector<double> tracking_errors(const TrackingSetup& setup, std::uint64_t seed) {
  VERIFY(setup.peers > 2 && setup.gossips > 0);
  const Quadratics problem(setup.peers, seed);
  return setup.method == TrackingMethod::d_psgd ? d_psgd_errors(problem, setup) : tracked_errors(problem, setup);
}

}  // namespace starling::sim
