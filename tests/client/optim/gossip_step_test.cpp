#include "client/optim/gossip_step.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

using namespace starling;
using optim::GossipStep;

namespace {

wire::LocalOptions options_of(double rate, double momentum, double pull) {
  wire::LocalOptions options;
  options.partners = wire::GossipPartners::random;
  options.mixing_rate = rate;
  options.mixing_momentum = momentum;
  options.mixing_pull = pull;
  return options;
}

// Volunteers that hold one parameter each, which all agreed to be 0.
struct Members {
  Members(const wire::LocalOptions& options, std::vector<float> begin)
      : own(std::move(begin)), sent(own.size()), steps(own.size(), GossipStep(options, 1)) {}

  void mix(std::span<const std::size_t> who) {
    std::array mean{0.0F};
    for (const std::size_t k : who) {
      steps[k].send_out(std::array{0.0F}, std::span(&own[k], 1), std::span(&sent[k], 1));
      mean[0] += sent[k] / static_cast<float>(who.size());
    }
    for (const std::size_t k : who) steps[k].take_in(std::span(&sent[k], 1), mean, std::span(&own[k], 1));
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const float value : own) sum += value;
    return sum / static_cast<double>(own.size());
  }
  [[nodiscard]] double consensus_distance() const {
    double square = 0;
    for (const float value : own) square += (value - mean()) * (value - mean());
    return std::sqrt(square / static_cast<double>(own.size()));
  }

  std::vector<float> own, sent;
  std::vector<GossipStep> steps;
};

constexpr std::array<std::size_t, 2> kPair{0, 1};

// Sixteen peers that meet in random pairs, drawn again each time. Nobody's own steps lead anywhere except the first
// ones. Returns their consensus distance at the end.
double consensus_distance_after(const wire::LocalOptions& options, int meetings) {
  constexpr std::size_t kPeers = 16;
  std::mt19937 random(1);
  std::vector<float> begin;
  for (std::size_t i = 0; i < kPeers; ++i) begin.push_back(static_cast<float>(random()) * 0x1p-32F);
  Members members(options, std::move(begin));
  std::vector<std::size_t> order(kPeers);
  for (std::size_t i = 0; i < kPeers; ++i) order[i] = i;
  for (int meeting = 0; meeting < meetings; ++meeting) {
    for (std::size_t left = kPeers; left > 1; --left) std::swap(order[left - 1], order[random() % left]);
    for (std::size_t k = 0; k < kPeers; k += 2) members.mix(std::span(order).subspan(k, 2));
  }
  return members.consensus_distance();
}

}  // namespace

TEST_CASE("by default a mixing is the mean of parameters, with what was computed meanwhile on top") {
  GossipStep step(options_of(1, 0, 1), 2);
  const std::array agreed{1.0F, 2.0F};
  std::array own{2.0F, 0.0F}, sent{0.0F, 0.0F};
  step.send_out(agreed, own, sent);
  CHECK(sent == std::array{1.0F, -2.0F});
  own[0] += 0.25F;  // a batch during the gossip
  step.take_in(sent, std::array{3.0F, -1.0F}, own);
  CHECK(own == std::array{4.25F, 1.0F});
}

TEST_CASE("a mixing with momentum follows NoLoCo's formula, and steps meanwhile are kept") {
  constexpr double kRate = 0.7, kMomentum = 0.5, kPull = 0.6;
  Members members(options_of(kRate, kMomentum, kPull), {0.3F, -0.1F});
  std::array phi{0.0, 0.0}, momentum{0.0, 0.0};
  for (int meeting = 0; meeting < 5; ++meeting) {
    const double moved = (members.own[0] - phi[0] + members.own[1] - phi[1]) / 2;
    const double middle = (phi[0] + phi[1]) / 2;
    members.mix(kPair);
    for (std::size_t k = 0; k < 2; ++k) {
      momentum[k] = kMomentum * momentum[k] + kRate * moved + kPull * (middle - phi[k]);
      phi[k] += momentum[k];
      CHECK(members.own[k] == doctest::Approx(phi[k]).epsilon(1e-5));
      members.own[k] += k == 0 ? 0.1F : -0.05F * static_cast<float>(meeting);
    }
  }
  GossipStep late(options_of(kRate, kMomentum, kPull), 1);
  std::array own{1.0F}, sent{0.0F};
  late.send_out(std::array{0.0F}, own, sent);
  CHECK(sent[0] == doctest::Approx(kRate));
  own[0] += 0.5F;
  late.take_in(sent, sent, own);
  CHECK(own[0] == doctest::Approx(kRate + 0.5));
}

TEST_CASE("meeting in pairs brings everybody together, with momentum as without") {
  CHECK(consensus_distance_after(options_of(0.7, 0.5, 0.7), 100) < 1e-4);
  CHECK(consensus_distance_after(options_of(1, 0, 1), 100) < 1e-4);
  CHECK(consensus_distance_after(options_of(0.7, 0.5, 0.01), 100) > 0.02);  // hardly any pull towards each other
}

TEST_CASE("the momentum goes on through a round's end, and the way from the agreed parameters begins anew") {
  Members members(options_of(0.7, 0.5, 0.7), {1.0F, 1.0F});
  members.mix(kPair);
  CHECK(members.own[0] == doctest::Approx(0.7));
  for (std::size_t k = 0; k < 2; ++k) {
    members.own[k] = 0;  // everybody counts from the round's result now
    members.steps[k].begin_round();
  }
  members.mix(kPair);
  CHECK(members.own[0] == doctest::Approx(0.5 * 0.7));
  for (GossipStep& step : members.steps) step.forget();
  members.own = {0, 0};
  members.mix(kPair);
  CHECK(members.own[0] == 0);
}

TEST_CASE("the members' mean takes the step that all would take together, whoever is in a mixing") {
  Members members(options_of(0.7, 0.5, 0.7), {0.4F, -0.2F, 0.9F, 0.1F});
  double phi = 0, momentum = 0;
  for (int meeting = 0; meeting < 6; ++meeting) {
    momentum = 0.5 * momentum + 0.7 * (members.mean() - phi);
    phi += momentum;
    const bool even = meeting % 2 == 0;
    members.mix(even ? std::array<std::size_t, 2>{0, 1} : std::array<std::size_t, 2>{0, 3});
    members.mix(even ? std::array<std::size_t, 2>{2, 3} : std::array<std::size_t, 2>{1, 2});
    CHECK(members.mean() == doctest::Approx(phi).epsilon(1e-5));
    for (std::size_t k = 0; k < 4; ++k) members.own[k] += 0.1F * static_cast<float>(k);
  }
}

TEST_CASE("how far members are apart is a share of their parameters' length, whatever a mixing's gain") {
  for (const double gain : {1.0, 0.7}) {
    const GossipStep step(options_of(gain, 0, gain), 2);
    const std::array agreed{0.0F, 0.0F}, one{3.0F, 4.0F}, other{3.0F, 3.0F};
    std::array sent{0.0F, 0.0F}, theirs{0.0F, 0.0F}, mixed{0.0F, 0.0F};
    step.send_out(agreed, one, sent);
    step.send_out(agreed, other, theirs);
    for (std::size_t i = 0; i < 2; ++i) mixed[i] = (sent[i] + theirs[i]) / 2;
    CHECK(step.distance(sent, mixed, one) == doctest::Approx(0.5 / 5));
  }
}
