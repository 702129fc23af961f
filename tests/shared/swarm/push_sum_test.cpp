#include "shared/swarm/push_sum.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

using namespace starling::swarm;

namespace {

// Each peer's listeners: 0 → 1, 2; 1 → 2; 2 → 0. So 2 is heard by one peer and hears two.
const std::vector<std::vector<PeerIndex>> kListeners{{1, 2}, {2}, {0}};
constexpr std::array<std::array<double, 2>, 3> kValues{{{9, -1}, {0, 4}, {3, 3}}};
constexpr std::array<double, 3> kWeights{1, 2, 5};

std::array<double, 2> weighted_mean() {
  std::array<double, 2> mean{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t d = 0; d < 2; ++d) mean[d] += kWeights[i] * kValues[i][d] / 8;
  }
  return mean;
}

std::vector<PushSum> push_sums() {
  std::vector<PushSum> peers;
  for (std::size_t i = 0; i < 3; ++i) peers.emplace_back(kValues[i], kWeights[i], kListeners[i].size());
  return peers;
}

template <typename Peer>
double worst_error(const std::vector<Peer>& peers) {
  double worst = 0;
  for (const Peer& peer : peers) {
    const std::vector<double> estimate = peer.estimate();
    for (std::size_t d = 0; d < 2; ++d) {
      REQUIRE(std::isfinite(estimate[d]));
      worst = std::max(worst, std::abs(estimate[d] - weighted_mean()[d]));
    }
  }
  return worst;
}

std::vector<double> copy(std::span<const double> values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("over lines of one way everybody ends at the weighted mean, however unequally peers are heard") {
  std::vector<PushSum> peers = push_sums();
  for (int round = 0; round < 200; ++round) {
    for (PeerIndex i = 0; i < 3; ++i) {
      const std::span<const double> message = peers[i].push();
      for (const PeerIndex listener : kListeners[i]) peers[listener].receive(i, message);
    }
  }
  CHECK(worst_error(peers) < 1e-13);
}

TEST_CASE("messages that are lost, repeated or late cost time, not mass") {
  std::vector<PushSum> peers = push_sums();
  std::vector<double> late;
  for (int round = 0; round < 600; ++round) {
    for (PeerIndex i = 0; i < 3; ++i) {
      const std::vector<double> message = copy(peers[i].push());
      if (i == 0 && round % 5 == 0) late = message;
      for (const PeerIndex listener : kListeners[i]) {
        if ((round + static_cast<int>(i + listener)) % 3 == 0) continue;
        peers[listener].receive(i, message);
        peers[listener].receive(i, message);
        if (i == 0 && !late.empty()) peers[listener].receive(0, late);
      }
    }
  }
  CHECK(worst_error(peers) < 1e-12);
}

TEST_CASE("codes reach the largest magnitude and miss every value by half a scale at most") {
  const std::array values{0.7, -3.0, 2.2, 0.0, -0.4};
  for (const int bits : {2, 3, 8}) {
    const Quantized quantized = quantize(values, bits);
    CHECK(quantized.scale == doctest::Approx(3.0 / ((1 << (bits - 1)) - 1)));
    std::array<double, 5> back{};
    add(quantized, back);
    CHECK(back[1] == doctest::Approx(-3));
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(std::abs(back[i] - values[i]) <= quantized.scale / 2 * (1 + 1e-12));
    }
  }
  const Quantized zeros = quantize(std::array{0.0, 0.0}, 3);
  CHECK(zeros.scale == 0);
  CHECK(zeros.codes == std::vector<std::int8_t>{0, 0});
}

TEST_CASE("three bits of every difference are enough for the exact mean") {
  std::vector<QuantizedPushSum> peers;
  for (std::size_t i = 0; i < 3; ++i) peers.emplace_back(kValues[i], kWeights[i], kListeners[i].size(), 3);
  for (int round = 0; round < 300; ++round) {
    std::vector<QuantizedPushSum::Message> messages;
    for (QuantizedPushSum& peer : peers) messages.push_back(peer.push());
    for (PeerIndex i = 0; i < 3; ++i) {
      for (const PeerIndex listener : kListeners[i]) peers[listener].receive(i, messages[i]);
    }
  }
  CHECK(worst_error(peers) < 1e-12);
}
