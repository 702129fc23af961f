// Gradients averaged as low-rank products: compared with the algorithm written out in doubles, over many rounds, and
// with members that are lost in the middle.
#include "client/averaging/power_sgd.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "client/averaging/codec.h"
#include "tests/client/averaging/low_rank_swarm.h"

using namespace starling;
using namespace starling::averaging;

namespace {

using Floats = std::vector<float>;
using Matrix = std::vector<std::vector<double>>;  // by row

// A matrix of 40 x 24, a vector of 10, a matrix of 16 x 30, and one that is too small for factors.
std::vector<wire::ParameterInfo> parameters() {
  std::vector<wire::ParameterInfo> layout;
  std::size_t offset = 0;
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{40, 24}, {10}, {16, 30}, {3, 3}}) {
    wire::ParameterInfo info;
    info.shape = shape;
    info.offset = offset;
    info.count = 1;
    for (const std::int64_t size : shape) info.count *= static_cast<std::size_t>(size);
    offset += info.count;
    layout.push_back(info);
  }
  return layout;
}

constexpr std::size_t kFloats = 40 * 24 + 10 + 16 * 30 + 9;

Floats random_gradient(unsigned seed, std::size_t size = kFloats) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats values(size);
  for (float& value : values) value = normal(random);
  return values;
}

double energy(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * value;
  return sum;
}

// One member alone: both averagings return its contribution, divided by its weight.
Floats alone(PowerSgd& power, const Floats& gradient, float weight = 1) {
  Floats left(power.layout().left_floats);
  std::copy_n(power.project(gradient).begin(), left.size(), left.begin());
  for (float& value : left) value /= weight;
  power.take_left(left);
  Floats right(power.layout().right_floats);
  std::copy_n(power.project_back(gradient).begin(), right.size(), right.begin());
  for (float& value : right) value /= weight;
  AveragingOutcome outcome;
  wire::RankSet all(1);
  all.set(0);
  outcome.contributors.push_back({0, static_cast<std::int64_t>(right.size()), all});
  Floats result(power.layout().floats);
  power.finish(right, outcome, 0, gradient, result);
  return result;
}

Matrix matrix_of(const wire::LowRankMatrix& at, std::span<const float> values) {
  Matrix matrix(at.rows, std::vector<double>(at.columns));
  for (std::size_t i = 0; i < at.rows; ++i) {
    for (std::size_t j = 0; j < at.columns; ++j) matrix[i][j] = values[at.offset + i * at.columns + j];
  }
  return matrix;
}

}  // namespace

TEST_CASE("matrices worth it become factors, everything else goes as it is") {
  const wire::LowRankLayout layout = wire::low_rank_layout(parameters(), 2);
  REQUIRE(layout.matrices.size() == 2);
  REQUIRE(layout.plain.size() == 2);
  CHECK(layout.floats == kFloats);
  CHECK(layout.left_floats == 2 * (40 + 16));
  CHECK(layout.right_floats == 2 * (24 + 30) + 10 + 9);
  CHECK(layout.matrices[1].offset == 40 * 24 + 10);
  CHECK(layout.plain[1].right_at == 2 * (24 + 30) + 10);
  CHECK(wire::low_rank_layout(parameters(), 8).matrices.empty());  // 8 factors of 40 + 24 are no half of 40 x 24
}

TEST_CASE("vectors are made orthonormal, and what depends on others becomes zeros") {
  Floats vectors = random_gradient(3, 5 * 50);
  for (std::size_t i = 0; i < 50; ++i) vectors[3 * 50 + i] = 2 * vectors[i] - vectors[50 + i];
  orthonormalise(vectors, 5);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < 50; ++i) sum += double{vectors[a * 50 + i]} * vectors[b * 50 + i];
      CHECK(sum == doctest::Approx(a == b && a != 3 ? 1 : 0).epsilon(1e-6));
    }
  }
  Floats zeros(30, 0.0F);
  orthonormalise(zeros, 3);
  CHECK(zeros == Floats(30, 0.0F));
}

TEST_CASE("one round is the algorithm as it is written: project, make orthonormal, project back, multiply") {
  const wire::LowRankLayout layout = wire::low_rank_layout(parameters(), 3);
  PowerSgd power(layout, 1, 7);
  const Floats first = random_gradient(1);
  const Floats second = random_gradient(2);
  const Floats before = alone(power, first);
  const Floats after = alone(power, second);
  for (const wire::LowRankMatrix& at : layout.matrices) {
    // The second round works on its gradient plus the residual of the first.
    Matrix m = matrix_of(at, second);
    const Matrix g = matrix_of(at, first);
    const Matrix said = matrix_of(at, before);
    for (std::size_t i = 0; i < at.rows; ++i) {
      for (std::size_t j = 0; j < at.columns; ++j) m[i][j] += g[i][j] - said[i][j];
    }
    // Q spans the rows of the first round's result: P = m said^T has the span of m Q.
    Matrix p;
    for (std::size_t k = 0; k < layout.rank; ++k) {
      std::vector<double> vector(at.rows);
      for (std::size_t i = 0; i < at.rows; ++i) {
        for (std::size_t j = 0; j < at.columns; ++j) vector[i] += m[i][j] * said[k][j];
      }
      for (const auto& other : p) {
        double along = 0;
        for (std::size_t i = 0; i < at.rows; ++i) along += other[i] * vector[i];
        for (std::size_t i = 0; i < at.rows; ++i) vector[i] -= along * other[i];
      }
      double length = 0;
      for (const double value : vector) length += value * value;
      for (double& value : vector) value /= std::sqrt(length);
      p.push_back(vector);
    }
    const Matrix result = matrix_of(at, after);
    double worst = 0;
    for (std::size_t j = 0; j < at.columns; ++j) {
      std::vector<double> q(layout.rank);
      for (std::size_t k = 0; k < layout.rank; ++k) {
        for (std::size_t i = 0; i < at.rows; ++i) q[k] += m[i][j] * p[k][i];
      }
      for (std::size_t i = 0; i < at.rows; ++i) {
        double expected = 0;
        for (std::size_t k = 0; k < layout.rank; ++k) expected += p[k][i] * q[k];
        worst = std::max(worst, std::abs(expected - result[i][j]));
      }
    }
    CHECK(worst < 2e-4);
  }
  for (const wire::PlainRun& run : layout.plain) {
    for (std::size_t i = 0; i < run.count; ++i) CHECK(after[run.offset + i] == second[run.offset + i]);
  }
}

TEST_CASE("a gradient of that rank is found within two rounds, to the last digits") {
  const wire::LowRankLayout layout = wire::low_rank_layout(parameters(), 2);
  PowerSgd power(layout, 0, 1);
  Floats gradient(kFloats, 0.0F);
  const Floats factors = random_gradient(5, 2 * (40 + 24 + 16 + 30));
  std::size_t at = 0;
  for (const wire::LowRankMatrix& matrix : layout.matrices) {
    for (std::size_t k = 0; k < 2; ++k, at += matrix.rows + matrix.columns) {
      for (std::size_t i = 0; i < matrix.rows; ++i) {
        for (std::size_t j = 0; j < matrix.columns; ++j) {
          gradient[matrix.offset + i * matrix.columns + j] += factors[at + i] * factors[at + matrix.rows + j];
        }
      }
    }
  }
  (void)alone(power, gradient, 4);
  Floats result = alone(power, gradient, 4);
  for (std::size_t i = 0; i < kFloats; ++i) result[i] = 4 * result[i] - gradient[i];
  CHECK(energy(result) < 1e-10 * energy(gradient));
}

TEST_CASE("what is left out is said later: over many rounds the sum is the sum of the gradients") {
  const wire::LowRankLayout layout = wire::low_rank_layout(parameters(), 2);
  for (const float kept : {1.0F, 0.0F}) {
    PowerSgd power(layout, kept, 1);
    const Floats gradient = random_gradient(9);
    Floats sum(kFloats, 0.0F);
    constexpr int kRounds = 200;
    for (int round = 0; round < kRounds; ++round) {
      const Floats result = alone(power, gradient);
      for (std::size_t i = 0; i < kFloats; ++i) sum[i] += result[i] / kRounds;
    }
    for (std::size_t i = 0; i < kFloats; ++i) sum[i] -= gradient[i];
    if (kept == 1) CHECK(energy(sum) < 0.01 * energy(gradient));
    if (kept == 0) CHECK(energy(sum) > 0.3 * energy(gradient));  // without feedback only 2 of 16 and 24 factors count
  }
}

TEST_CASE("matrices of zeros stay zeros, and are found again when they are none any more") {
  const wire::LowRankLayout layout = wire::low_rank_layout(parameters(), 2);
  PowerSgd power(layout, 1, 1);
  const Floats zeros(kFloats, 0.0F);
  for (int round = 0; round < 3; ++round) CHECK(alone(power, zeros) == zeros);
  const Floats gradient = random_gradient(4);
  CHECK(energy(alone(power, gradient)) > 0.05 * energy(gradient));
}

TEST_CASE("a residual that cannot be added up any more is let go") {
  PowerSgd power(wire::low_rank_layout(parameters(), 2), 1, 1);
  const Floats huge(kFloats, 0x1p97F);
  for (int round = 0; round < 40; ++round) {
    Floats gradient = random_gradient(static_cast<unsigned>(round));
    for (float& value : gradient) value *= 0x1p94F;
    CHECK(summable(power.project(gradient)));
    (void)alone(power, gradient);
  }
}

TEST_CASE("members average what each would say, and end with the same bits") {
  LowRankSwarm swarm({.members = 4, .parameters = parameters(), .rank = 3, .kept = 1});
  Floats sum(kFloats, 0.0F);
  Floats meant(kFloats, 0.0F);
  for (int round = 0; round < 60; ++round) {
    for (Rank rank = 0; rank < 4; ++rank) {
      swarm.gradient(rank) = random_gradient(100 + static_cast<unsigned>(rank));
      for (std::size_t i = 0; i < kFloats; ++i) meant[i] += swarm.gradient(rank)[i] / 10;  // weights are 1, 2, 3, 4
    }
    swarm.play_round();
    for (Rank rank = 0; rank < 4; ++rank) {
      REQUIRE(swarm.outcome(rank)->verdict == AveragingOutcome::Verdict::averaged);
      CHECK(swarm.result(rank) == swarm.result(0));
    }
    for (std::size_t i = 0; i < kFloats; ++i) sum[i] += swarm.result(0)[i];
  }
  for (std::size_t i = 0; i < kFloats; ++i) sum[i] -= meant[i];
  CHECK(energy(sum) < 0.01 * energy(meant));
}

TEST_CASE(
    "whoever is lost in either averaging, the survivors hold the same bits, and what they meant comes in the end") {
  for (const bool in_second : {false, true}) {
    for (std::size_t event = 0; event < 260; event += 20) {
      CAPTURE(in_second);
      CAPTURE(event);
      LowRankSwarm swarm({.members = 5, .parameters = parameters(), .rank = 2, .kept = 1});
      const std::vector<Fault> death = {{.kind = Fault::Kind::kill_dirty, .rank = event / 20 % 5, .event = event}};
      Floats sum(kFloats, 0.0F);
      constexpr int kRounds = 40;
      for (int round = 0; round < kRounds; ++round) {
        for (Rank rank = 0; rank < 5; ++rank) swarm.gradient(rank) = random_gradient(50);  // all have one gradient
        const bool strikes = round == 1;
        swarm.play_round(strikes && !in_second ? death : std::vector<Fault>{},
                         strikes && in_second ? death : std::vector<Fault>{});
        const Rank first = swarm.alive(0) ? 0 : 1;
        for (Rank rank = first; rank < 5; ++rank) {
          if (!swarm.alive(rank)) continue;
          REQUIRE(swarm.outcome(rank) != nullptr);
          CHECK(swarm.outcome(rank)->verdict == AveragingOutcome::Verdict::averaged);
          CHECK(swarm.outcome(rank)->samples == swarm.outcome(first)->samples);
          CHECK(swarm.result(rank) == swarm.result(first));
        }
        for (std::size_t i = 0; i < kFloats; ++i) sum[i] += swarm.result(first)[i] * 3 / kRounds;
      }
      // The mean of the weights is 3: gradients are sums over samples.
      const Floats meant = random_gradient(50);
      for (std::size_t i = 0; i < kFloats; ++i) sum[i] -= meant[i];
      CHECK(energy(sum) < 0.1 * energy(meant));
    }
  }
}
