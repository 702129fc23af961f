#include "tests/sim/push_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "shared/base/verify.h"
#include "shared/swarm/push_sum.h"
#include "tests/sim/normal_values.h"

namespace starling::sim {
namespace {

using swarm::PeerIndex;
using Vector = std::vector<double>;
using Listeners = std::vector<std::vector<PeerIndex>>;

constexpr std::size_t kListeners = 3;

// Draws each peer's listeners: the next one, so that there is a way from everybody to everybody, and others by lot.
Listeners draw_listeners(std::size_t peers, swarm::RandomStream& random) {
  Listeners listeners(peers);
  for (std::size_t i = 0; i < peers; ++i) {
    std::vector<PeerIndex>& own = listeners[i];
    own.push_back(static_cast<PeerIndex>((i + 1) % peers));
    while (own.size() < kListeners) {
      const PeerIndex other = random.below(static_cast<std::uint32_t>(peers));
      if (other != i && std::find(own.begin(), own.end(), other) == own.end()) own.push_back(other);
    }
  }
  return listeners;
}

// The common part of the five methods. One round: everybody sends, then messages arrive.
class Swarm {
 public:
  virtual ~Swarm() = default;
  virtual void send(PeerIndex from) = 0;
  virtual void deliver(PeerIndex from, PeerIndex to) = 0;
  virtual void end_round() {}
  [[nodiscard]] virtual Vector estimate(PeerIndex of) const = 0;
};

class RunningSums final : public Swarm {
 public:
  explicit RunningSums(const std::vector<Vector>& values) : messages_(values.size()) {
    for (const Vector& one : values) peers_.emplace_back(one, 1, kListeners);
  }
  void send(PeerIndex from) override {
    const std::span<const double> given = peers_[from].push();
    messages_[from].assign(given.begin(), given.end());
  }
  void deliver(PeerIndex from, PeerIndex to) override { peers_[to].receive(from, messages_[from]); }
  [[nodiscard]] Vector estimate(PeerIndex of) const override { return peers_[of].estimate(); }

 private:
  std::vector<swarm::PushSum> peers_;
  std::vector<Vector> messages_;
};

class Differences final : public Swarm {
 public:
  Differences(const std::vector<Vector>& values, int bits) : messages_(values.size()) {
    for (const Vector& one : values) peers_.emplace_back(one, 1, kListeners, bits);
  }
  void send(PeerIndex from) override { messages_[from] = peers_[from].push(); }
  void deliver(PeerIndex from, PeerIndex to) override { peers_[to].receive(from, messages_[from]); }
  [[nodiscard]] Vector estimate(PeerIndex of) const override { return peers_[of].estimate(); }

 private:
  std::vector<swarm::QuantizedPushSum> peers_;
  std::vector<swarm::QuantizedPushSum::Message> messages_;
};

// Shares of [values | weight] that nobody keeps account of; bits: of the shares, 0: they go whole.
class Shares final : public Swarm {
 public:
  Shares(const std::vector<Vector>& values, int bits) : mass_(values), shares_(values.size()), bits_(bits) {
    for (Vector& one : mass_) one.push_back(1);
  }
  void send(PeerIndex from) override {
    Vector& mass = mass_[from];
    Vector shared = mass;
    if (bits_ > 0) {
      const std::span<double> values = std::span(shared).first(mass.size() - 1);
      const swarm::Quantized quantized = swarm::quantize(values, bits_);
      std::fill(values.begin(), values.end(), 0.0);
      swarm::add(quantized, values);
    }
    for (std::size_t k = 0; k < mass.size(); ++k) {
      shared[k] /= kListeners + 1;
      mass[k] -= kListeners * shared[k];
    }
    shares_[from] = shared;
  }
  void deliver(PeerIndex from, PeerIndex to) override {
    for (std::size_t k = 0; k < mass_[to].size(); ++k) mass_[to][k] += shares_[from][k];
  }
  [[nodiscard]] Vector estimate(PeerIndex of) const override {
    Vector values(mass_[of].begin(), mass_[of].end() - 1);
    for (double& value : values) value /= mass_[of].back();
    return values;
  }

 private:
  std::vector<Vector> mass_, shares_;
  int bits_;
};

class Naive final : public Swarm {
 public:
  explicit Naive(const std::vector<Vector>& values) : values_(values), messages_(values), heard_(values.size(), 1) {}
  void send(PeerIndex from) override { messages_[from] = values_[from]; }
  void deliver(PeerIndex from, PeerIndex to) override {
    for (std::size_t k = 0; k < values_[to].size(); ++k) values_[to][k] += messages_[from][k];
    ++heard_[to];
  }
  void end_round() override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      for (double& value : values_[i]) value /= heard_[i];
      heard_[i] = 1;
    }
  }
  [[nodiscard]] Vector estimate(PeerIndex of) const override { return values_[of]; }

 private:
  std::vector<Vector> values_, messages_;
  std::vector<int> heard_;  // messages of this round, the own one included
};

std::unique_ptr<Swarm> make_swarm(const PushSumSetup& setup, const std::vector<Vector>& values) {
  switch (setup.method) {
    case PushSumMethod::running_sums:
      return std::make_unique<RunningSums>(values);
    case PushSumMethod::plain_shares:
      return std::make_unique<Shares>(values, 0);
    case PushSumMethod::naive:
      return std::make_unique<Naive>(values);
    case PushSumMethod::differences:
      return std::make_unique<Differences>(values, setup.bits);
    case PushSumMethod::direct:
      return std::make_unique<Shares>(values, setup.bits);
  }
  return nullptr;
}

double worst_error(const Swarm& swarm, std::size_t peers, const Vector& mean) {
  double worst = 0;
  for (PeerIndex i = 0; i < peers; ++i) {
    const Vector estimate = swarm.estimate(i);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const double error = std::abs(estimate[k] - mean[k]);
      worst = std::isfinite(error) ? std::max(worst, error) : std::numeric_limits<double>::infinity();
    }
  }
  return worst;
}

}  // namespace

std::string_view to_string(PushSumMethod method) {
  switch (method) {
    case PushSumMethod::running_sums:
      return "running sums";
    case PushSumMethod::plain_shares:
      return "shares";
    case PushSumMethod::naive:
      return "plain means";
    case PushSumMethod::differences:
      return "quantized differences";
    case PushSumMethod::direct:
      return "quantized values";
  }
  return {};
}

std::vector<double> push_sum_errors(const PushSumSetup& setup, std::uint64_t seed) {
  const bool quantized = setup.method == PushSumMethod::differences || setup.method == PushSumMethod::direct;
  VERIFY(setup.peers > kListeners && (!quantized || setup.loss_rate == 0));
  swarm::RandomStream random(seed);
  std::vector<Vector> values;
  Vector mean(setup.dims);
  for (std::size_t i = 0; i < setup.peers; ++i) {
    values.push_back(normal_values(setup.dims, random));
    for (std::size_t k = 0; k < setup.dims; ++k) mean[k] += values[i][k] / static_cast<double>(setup.peers);
  }
  const Listeners listeners = draw_listeners(setup.peers, random);
  const std::unique_ptr<Swarm> swarm = make_swarm(setup, values);
  Vector errors{worst_error(*swarm, setup.peers, mean)};
  for (int round = 0; round < setup.rounds; ++round) {
    for (PeerIndex i = 0; i < setup.peers; ++i) swarm->send(i);
    for (PeerIndex i = 0; i < setup.peers; ++i) {
      for (const PeerIndex listener : listeners[i]) {
        if (random.uniform() >= setup.loss_rate) swarm->deliver(i, listener);
      }
    }
    swarm->end_round();
    errors.push_back(worst_error(*swarm, setup.peers, mean));
  }
  return errors;
}

}  // namespace starling::sim
