#include "tests/sim/decentralized_command.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "client/optim/optimizer.h"
#include "shared/base/words.h"
#include "shared/state/initial_state.h"
#include "shared/swarm/random_stream.h"

using namespace starling;
using namespace starling::sim;

namespace {

using Kind = swarm::FormationSpec::Kind;

const swarm::FormationSpec kExponential{Kind::exponential_pairs, {}};

DecentralizedSetup setup_of(wire::OptimizerKind optimizer) {
  DecentralizedSetup setup;
  setup.optimizer = TeacherProblem::optimizer(optimizer);
  setup.learning_rate = 2e-3;
  setup.steps = 1500;
  return setup;
}

std::vector<float> noise(std::size_t size, std::uint64_t seed) {
  swarm::RandomStream random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.uniform() - 0.5);
  return values;
}

constexpr double kRate = 1e-2;

// A worker in double precision, one parameter, as the papers write it: arXiv 2410.11998, algorithm 1, with AdamW or
// AccumAdamW for d.
struct WrittenOut {
  double x = 0, m = 0, v = 0, a = 0;
  double decay = 0;

  void step(const wire::OptimizerOptions& o, double mixed, double g, int t) {
    const double s = o.kind == wire::OptimizerKind::accum_adamw ? static_cast<double>(o.window_rounds) : 1;
    const double k = std::ceil(t / s);
    a += g / s;
    const double m_now = o.beta1 * m + (1 - o.beta1) * g;
    const double v_now = o.beta2 * v + (1 - o.beta2) * g * g;
    const double direction =
        m_now / (1 - std::pow(o.beta1, k)) / (std::sqrt(v_now / (1 - std::pow(o.beta2, k))) + o.epsilon);
    x = (1 - kRate * decay) * mixed - kRate * direction;
    if (std::fmod(t, s) != 0) return;
    m = o.beta1 * m + (1 - o.beta1) * a;
    v = o.beta2 * v + (1 - o.beta2) * a * a;
    a = 0;
  }
};

}  // namespace

TEST_CASE("the problem's gradient is its loss's derivative") {
  const TeacherProblem problem(3);
  wire::RunManifest manifest;
  manifest.model = TeacherProblem::model();
  std::vector<float> state(wire::state_size(manifest));
  state::fill_initial_state(manifest, state);
  const std::size_t size = wire::parameter_count(manifest.model);
  // Where all answers are drawn often enough, the summed gradient is that of the excess loss, give or take noise; so
  // along it the excess loss falls by the gradient's square.
  constexpr int kSamples = 40'000;
  std::vector<float> gradient(size);
  const auto parameters = std::span(state).first(size);
  problem.add_gradient(parameters, 0, kSamples, gradient);
  double square = 0;
  for (float& value : gradient) {
    value /= kSamples;
    square += value * value;
  }
  const double before = problem.excess_loss(parameters);
  constexpr float kStep = 0.01F;
  for (std::size_t i = 0; i < size; ++i) state[i] -= kStep * gradient[i];
  CHECK((before - problem.excess_loss(parameters)) / (kStep * square) == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("decentralized steps follow their formula: gradients of unmixed parameters, moments of one's own") {
  for (const wire::OptimizerKind kind : {wire::OptimizerKind::adamw, wire::OptimizerKind::accum_adamw}) {
    CAPTURE(word_of(kind));
    wire::RunManifest manifest;
    manifest.model = TeacherProblem::model();
    manifest.optimizer = wire::default_optimizer(kind);
    manifest.optimizer.clip_norm = 0;
    manifest.optimizer.window_rounds = 4;
    manifest.schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = kRate, .warmup_rounds = 0};
    const optim::Optimizer optimizer(manifest);
    const std::size_t size = optimizer.parameter_count();
    constexpr std::size_t kWorkers = 4;
    Replicas replicas{{kWorkers, std::vector<float>(optimizer.state_size())},
                      swarm::make_formation(kExponential, std::vector<double>(kWorkers, 1.0), 1)};
    std::vector<WrittenOut> worker(size);
    for (const wire::ParameterInfo& info : wire::model_layout(manifest.model)) {
      for (std::size_t i = info.offset; i < info.offset + info.count; ++i) {
        worker[i].decay = info.decayed ? manifest.optimizer.weight_decay : 0;
      }
    }
    std::vector<std::vector<WrittenOut>> reference(kWorkers, worker);
    for (std::size_t w = 0; w < kWorkers; ++w) {
      const std::vector<float> start = noise(size, w);
      std::copy(start.begin(), start.end(), replicas.states[w].begin());
      for (std::size_t i = 0; i < size; ++i) reference[w][i].x = start[i];
    }
    const std::vector<std::uint8_t> took_part(kWorkers, 1);
    double worst = 0;
    for (int t = 1; t <= 10; ++t) {
      std::vector<std::vector<float>> gradients;
      for (std::uint64_t w = 0; w < kWorkers; ++w) gradients.push_back(noise(size, 100 * w + static_cast<unsigned>(t)));
      mix(size, took_part, replicas);
      REQUIRE(step_all(optimizer, t - 1, gradients, replicas).ok());
      const std::size_t bit = t % 2 == 1 ? 1 : 2;
      for (std::size_t i = 0; i < size; ++i) {
        double mixed[kWorkers];
        for (std::size_t w = 0; w < kWorkers; ++w) mixed[w] = (reference[w][i].x + reference[w ^ bit][i].x) / 2;
        for (std::size_t w = 0; w < kWorkers; ++w) {
          reference[w][i].step(manifest.optimizer, mixed[w], gradients[w][i], t);
          worst = std::max(worst, std::abs(reference[w][i].x - replicas.states[w][i]));
        }
      }
    }
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("AccumAdamW closes at least half of what decentralized AdamW loses at all-reduce's learning rate") {
  const double all_reduce = train_decentralized(setup_of(wire::OptimizerKind::adamw), 1)->excess_loss;
  for (const swarm::FormationSpec& topology : {kExponential, swarm::FormationSpec{Kind::ring_pairs, {}}}) {
    DecentralizedSetup adam = setup_of(wire::OptimizerKind::adamw), accum = setup_of(wire::OptimizerKind::accum_adamw);
    adam.topology = accum.topology = topology;
    const double decentralized = train_decentralized(adam, 1)->excess_loss;
    CHECK(decentralized > all_reduce + 0.05);
    CHECK(gap_closed(all_reduce, decentralized, train_decentralized(accum, 1)->excess_loss) >= 0.5);
  }
}

TEST_CASE("workers that miss every third mixing learn as much, and stay together") {
  DecentralizedSetup setup = setup_of(wire::OptimizerKind::accum_adamw);
  setup.topology = kExponential;
  const Result<DecentralizedResult> calm = train_decentralized(setup, 1);
  setup.failure_rate = 1.0 / 3;
  const Result<DecentralizedResult> rough = train_decentralized(setup, 1);
  REQUIRE(calm.ok());
  REQUIRE(rough.ok());
  CHECK(rough->excess_loss < calm->excess_loss + 0.02);
  CHECK(rough->consensus_distance < 5 * calm->consensus_distance);
  CHECK(train_decentralized(setup, 1)->excess_loss == rough->excess_loss);
}
