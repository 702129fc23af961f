#include "client/optim/noloco.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

using namespace starling::optim;

namespace {

// As many peers as there are values, who meet in pairs drawn anew; nobody's own steps lead anywhere.
// Returns how far apart they are after each meeting.
std::vector<double> spreads(const NoLoCoOptions& options, int meetings) {
  constexpr std::size_t kPeers = 16;
  std::mt19937 random(1);
  std::vector<float> agreed, momentum(kPeers);
  for (std::size_t i = 0; i < kPeers; ++i) agreed.push_back(static_cast<float>(random()) * 0x1p-32F);
  std::vector<std::size_t> order(kPeers);
  for (std::size_t i = 0; i < kPeers; ++i) order[i] = i;
  std::vector<double> result;
  for (int meeting = 0; meeting < meetings; ++meeting) {
    for (std::size_t left = kPeers; left > 1; --left) std::swap(order[left - 1], order[random() % left]);
    for (std::size_t k = 0; k < kPeers; k += 2) {
      const std::array mean{(agreed[order[k]] + agreed[order[k + 1]]) / 2};
      for (const std::size_t i : {order[k], order[k + 1]}) {
        noloco_step(options, std::array{0.0F}, mean, std::span(&agreed[i], 1), std::span(&momentum[i], 1));
      }
    }
    double mean = 0, square = 0;
    for (const float value : agreed) mean += value / kPeers;
    for (const float value : agreed) square += (value - mean) * (value - mean) / kPeers;
    result.push_back(std::sqrt(square));
  }
  return result;
}

}  // namespace

TEST_CASE("a NoLoCo step follows its formula, momentum included") {
  const NoLoCoOptions options{.rate = 0.7F, .momentum = 0.5F, .pull = 0.6F};
  std::array agreed{1.0F, -2.0F}, momentum{0.0F, 0.0F};
  noloco_step(options, std::array{0.1F, 0.0F}, std::array{1.5F, -2.0F}, agreed, momentum);
  CHECK(momentum[0] == doctest::Approx(-0.7 * 0.1 + 0.6 * 0.5));
  CHECK(agreed[0] == doctest::Approx(1 + 0.23));
  CHECK(agreed[1] == -2);
  noloco_step(options, std::array{0.0F, 0.2F}, std::array{1.23F, -2.0F}, agreed, momentum);
  CHECK(agreed[0] == doctest::Approx(1.23 + 0.115));
  CHECK(agreed[1] == doctest::Approx(-2.14));
}

TEST_CASE("meeting in pairs brings everybody together, which without the pull it does not") {
  CHECK(spreads({}, 100).back() < 1e-4);
  CHECK(spreads({.pull = 0}, 100).back() > 0.2);
}
