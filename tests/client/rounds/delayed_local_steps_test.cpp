// Local steps that go on while a round is averaged, all of the vector or a fragment of it, beside the arithmetic
// written out for single coordinates.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "client/optim/fragment_step.h"
#include "client/optim/local_steps.h"
#include "client/rounds/fragment_sums.h"
#include "shared/base/permutation.h"
#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::optim;

namespace {

constexpr SampleCount kSamples = 4;  // in a step
constexpr double kInnerRate = 0.125;
constexpr std::array<std::size_t, 4> kShown{0, 100, 3000, 6000};  // coordinates
constexpr double kTolerance = 2e-5;  // single precision, some fifty operations on values of a few units

struct Outer {
  double learning_rate = 1;
  double momentum = 0;
};

wire::RunManifest manifest_of(const Outer& outer, double merge_alpha, int fragments = 1) {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 16, .heads = 2, .context = 8};
  manifest.round.delay_parameter_updates = true;
  const auto plain = [](double learning_rate, double momentum) {
    wire::OptimizerOptions optimizer = wire::default_optimizer(wire::OptimizerKind::sgd);
    optimizer.momentum = momentum;
    optimizer.nesterov = momentum > 0;
    optimizer.weight_decay = optimizer.clip_norm = 0;
    return std::pair(optimizer,
                     wire::ScheduleOptions{
                         .kind = wire::ScheduleKind::constant, .learning_rate = learning_rate, .warmup_rounds = 0});
  };
  std::tie(manifest.optimizer, manifest.schedule) = plain(outer.learning_rate, outer.momentum);
  manifest.local.emplace();
  std::tie(manifest.local->optimizer, manifest.local->schedule) = plain(kInnerRate, 0);
  manifest.local->merge_alpha = merge_alpha;
  manifest.local->fragments = fragments;
  return manifest;
}

// The gradient of one sample.
float gradient_at(std::size_t coordinate, std::uint64_t batch) {
  return static_cast<float>(mix64(batch << 32 ^ coordinate) % 2001) / 1000.0F - 1.0F;
}

// The product's arithmetic on one computer. A trainer's death is a new LocalSteps.
struct Volunteer {
  Volunteer(const wire::RunManifest& of, std::span<const float> agreed_by_all)
      : manifest(of), agreed(agreed_by_all), state(wire::local_state_size(of)), sums(of) {
    replace_trainer();
  }

  void replace_trainer() {
    local.emplace(manifest, agreed, state);
    local->begin();
  }

  void step(std::uint64_t batch) {
    std::vector<float> gradient(agreed.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = kSamples * gradient_at(i, batch);
    REQUIRE(local->step(0, kSamples, gradient).ok());
    for (std::size_t i = 0; i < gradient.size(); ++i) sums.into(false)[i] += gradient[i];
    sums.on_batch(kSamples);
    samples += kSamples;
  }

  // Its contribution to the round, as the sum of `samples`.
  std::pair<std::span<const float>, SampleCount> cut(RoundIndex round) {
    local->cut(round);
    const SampleCount weight = std::exchange(samples, 0);
    return {sums.cut(round, weight, weight), weight};
  }

  wire::RunManifest manifest;
  std::span<const float> agreed;
  std::vector<float> state;
  rounds::FragmentSums sums;
  SampleCount samples = 0;  // samples since a round was cut
  std::optional<LocalSteps> local;
};

// One coordinate of one computer, by the formula. Reported and unsent: samples x the way from where each of its
// trainers began to where it has reported to be, over as many rounds as there are fragments.
struct Reference {
  double own = 0, begin = 0, told = 0, alpha = 0;
  double left = 0;  // by trainers that have died
  SampleCount samples = 0, all_samples = 0;

  void step(float gradient) {
    own -= kInnerRate * gradient;
    told = own;
    samples += kSamples;
    all_samples += kSamples;
  }
  [[nodiscard]] double sum() const { return left + static_cast<double>(samples) * (begin - told); }
  [[nodiscard]] double mean() const { return sum() / static_cast<double>(all_samples); }
  void die(double agreed) {
    left = sum();
    own = begin = told = agreed;
    samples = 0;
  }
  void cut() {
    begin = told;
    left = 0;
    samples = all_samples = 0;
  }
  void merge(double agreed) {
    own = alpha * own + (1 - alpha) * (agreed + (own - begin));
    told = agreed + (told - begin);
    begin = agreed;
  }
};

struct Swarm {
  Swarm(const Outer& outer_step, double merge_alpha, int fragments)
      : outer(outer_step), manifest(manifest_of(outer, merge_alpha, fragments)), agreed(wire::state_size(manifest)) {
    const std::span<float> parameters = std::span(agreed).first(wire::parameter_count(manifest.model));
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = gradient_at(i, 999);
    for (int i = 0; i < 2; ++i) volunteers.push_back(std::make_unique<Volunteer>(manifest, parameters));
    for (std::size_t shown = 0; shown < kShown.size(); ++shown) {
      const double at = expected[shown] = agreed[kShown[shown]];
      for (auto& reference : references[shown]) reference = {at, at, at, merge_alpha, 0, 0, 0};
    }
  }

  void step(int who) {
    ++batch;
    volunteers[static_cast<std::size_t>(who)]->step(batch);
    for (std::size_t shown = 0; shown < kShown.size(); ++shown) {
      reference(shown, who).step(gradient_at(kShown[shown], batch));
    }
  }

  void kill_trainer(int who) {
    volunteers[static_cast<std::size_t>(who)]->replace_trainer();
    for (std::size_t shown = 0; shown < kShown.size(); ++shown) reference(shown, who).die(expected[shown]);
  }

  [[nodiscard]] bool is_averaged(std::size_t shown) const {
    const wire::Fragment fragment = wire::fragment_of(manifest, round);
    return kShown[shown] >= fragment.begin && kShown[shown] < fragment.begin + fragment.count;
  }

  void cut() {
    average.assign(wire::fragment_floats(manifest), 0.0F);
    std::array<double, 2> weights{};
    double all = 0;
    for (std::size_t who = 0; who < 2; ++who) {
      const auto [sum, samples] = volunteers[who]->cut(round);
      for (std::size_t i = 0; i < average.size(); ++i) average[i] += sum[i];
      weights[who] = static_cast<double>(samples);
      all += weights[who];
    }
    for (float& value : average) value /= static_cast<float>(all);
    for (std::size_t shown = 0; shown < kShown.size(); ++shown) {
      if (!is_averaged(shown)) continue;
      expected_average[shown] = 0;
      for (std::size_t who = 0; who < 2; ++who) {
        expected_average[shown] += weights[who] / all * references[shown][who].mean();
        references[shown][who].cut();
      }
      const std::size_t place = kShown[shown] - wire::fragment_of(manifest, round).begin;
      CHECK(std::abs(average[place] - expected_average[shown]) < kTolerance);
    }
  }

  // The common step, and everybody's merging.
  void finish_round() {
    for (std::size_t shown = 0; shown < kShown.size(); ++shown) {
      if (is_averaged(shown)) step_expected(shown);
    }
    REQUIRE(step_fragment(manifest, round++, average, agreed).ok());
    for (std::size_t shown = 0; shown < kShown.size(); ++shown) {
      CHECK(std::abs(agreed[kShown[shown]] - expected[shown]) < kTolerance);
    }
    for (const auto& volunteer : volunteers) {
      volunteer->local->merge();
      volunteer->local->merge();  // a repeated request changes nothing
    }
    check();
  }

  void step_expected(std::size_t shown) {
    double& moment = moments[shown];
    moment = outer.momentum * moment + expected_average[shown];
    const double way = outer.momentum > 0 ? expected_average[shown] + outer.momentum * moment : moment;
    expected[shown] -= outer.learning_rate * way;
    for (Reference& each : references[shown]) each.merge(expected[shown]);
  }

  // Checks own parameters, and samples x way that have been reported and not been sent.
  void check() {
    for (std::size_t who = 0; who < volunteers.size(); ++who) {
      for (std::size_t shown = 0; shown < kShown.size(); ++shown) {
        CAPTURE(who);
        CAPTURE(kShown[shown]);
        Volunteer& volunteer = *volunteers[who];
        const Reference& reference = references[shown][who];
        CHECK(std::abs(volunteer.local->parameters()[kShown[shown]] - reference.own) < kTolerance);
        CHECK(std::abs(volunteer.sums.into(false)[kShown[shown]] - reference.sum()) < 10 * kTolerance);
      }
    }
  }

  Reference& reference(std::size_t shown, int who) { return references[shown][static_cast<std::size_t>(who)]; }

  Outer outer;
  wire::RunManifest manifest;
  std::vector<float> agreed;  // [parameters | momentum]
  std::vector<float> average;
  std::vector<std::unique_ptr<Volunteer>> volunteers;
  RoundIndex round = 0;
  std::uint64_t batch = 0;
  std::array<double, kShown.size()> expected{}, moments{}, expected_average{};
  std::array<std::array<Reference, 2>, kShown.size()> references{};
};

}  // namespace

TEST_CASE("two who step on while a round is averaged send every step once, whatever the common step and alpha") {
  for (const Outer& outer : {Outer{1, 0}, Outer{0.7, 0.9}}) {
    for (const std::pair<double, int>& kind : {std::pair(0.0, 1), {0.5, 1}, {0.0, 3}, {0.5, 3}}) {
      const double alpha = kind.first;
      const int fragments = kind.second;
      CAPTURE(outer.momentum);
      CAPTURE(alpha);
      CAPTURE(fragments);
      Swarm swarm(outer, alpha, fragments);
      for (const int who : {0, 1, 0, 0}) swarm.step(who);
      for (int round = 0; round < 7; ++round) {
        swarm.cut();
        swarm.check();
        for (const int who : {0, 1, 1}) swarm.step(who);
        swarm.finish_round();
        swarm.step(0);
        if (round % 2 == 0) swarm.step(1);
        swarm.check();
      }
    }
  }
}

TEST_CASE("a trainer that dies leaves what it has told, before, during and after an averaging") {
  for (const int fragments : {1, 3}) {
    CAPTURE(fragments);
    Swarm swarm({0.7, 0.9}, 0.25, fragments);
    for (const int who : {0, 1, 0, 1}) swarm.step(who);
    swarm.kill_trainer(1);
    swarm.step(1);
    swarm.cut();
    for (const int who : {0, 1, 1}) swarm.step(who);
    swarm.kill_trainer(1);  // the new one begins at the old agreed parameters, and merges like the others
    for (const int who : {1, 0}) swarm.step(who);
    swarm.finish_round();
    for (const int who : {0, 1}) swarm.step(who);
    swarm.kill_trainer(0);
    for (const int who : {0, 1}) swarm.step(who);
    swarm.check();
    swarm.cut();
    swarm.finish_round();
    swarm.check();
  }
}

TEST_CASE("who trains alone, and moves the agreed parameters to where it is, goes on as if nothing had happened") {
  const wire::RunManifest manifest = manifest_of({}, 0);
  const std::vector<float> never_changed(wire::parameter_count(manifest.model), 0.5F);
  std::vector<float> agreed = never_changed;
  Volunteer without_rounds(manifest, never_changed);
  Volunteer goes_on(manifest, agreed);
  std::uint64_t batch = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      ++batch;
      without_rounds.step(batch);
      goes_on.step(batch);
    }
    const auto [sum, samples] = goes_on.cut(0);
    ++batch;
    without_rounds.step(batch);
    goes_on.step(batch);
    for (std::size_t i = 0; i < agreed.size(); ++i) agreed[i] -= sum[i] / static_cast<float>(samples);
    goes_on.local->merge();
  }
  for (std::size_t i = 0; i < agreed.size(); ++i) {
    REQUIRE(std::abs(goes_on.local->parameters()[i] - without_rounds.local->parameters()[i]) < 1e-5F);
  }
}

TEST_CASE("an eager volunteer steps on from where its own part leads, and hears of the average later") {
  const wire::RunManifest manifest = manifest_of({}, 0);
  std::vector<float> agreed(wire::parameter_count(manifest.model), 0.5F);
  Volunteer volunteer(manifest, agreed);
  volunteer.step(1);
  const std::vector<float> expected(agreed.size(), 0.25F);
  volunteer.local->cut_to(expected);
  volunteer.sums.clear();
  volunteer.step(2);
  std::fill(agreed.begin(), agreed.end(), 0.75F);
  volunteer.local->merge();
  volunteer.step(3);
  for (const std::size_t i : kShown) {
    const double way = kInnerRate * (static_cast<double>(gradient_at(i, 2)) + gradient_at(i, 3));
    CHECK(std::abs(volunteer.local->parameters()[i] - (0.75 - way)) < kTolerance);
    CHECK(std::abs(volunteer.sums.into(false)[i] - 2 * kSamples * way) < 10 * kTolerance);
  }
}
