#include "shared/swarm/exchange_topologies.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "shared/swarm/random_stream.h"

using namespace starling;
using namespace starling::swarm;

namespace {

using Kind = FormationSpec::Kind;
using Matrix = std::vector<std::vector<double>>;

const FormationSpec kComplete{};
const FormationSpec kRing{Kind::ring_pairs, {}};
const FormationSpec kExponential{Kind::exponential_pairs, {}};
const FormationSpec kAlternating{Kind::alternating_exponential_ring, {4}};
const FormationSpec kRandomPairs{Kind::random_groups, {2}};

Matrix identity(std::size_t count) {
  Matrix result(count, std::vector<double>(count));
  for (std::size_t i = 0; i < count; ++i) result[i][i] = 1;
  return result;
}

// The effect of a step on any vector, as a matrix: everybody in a group who takes part holds their weighted mean; all
// others keep their values.
Matrix mixing_matrix(GroupFormation& formation, const std::vector<std::uint8_t>& present,
                     const std::vector<std::uint8_t>& took_part) {
  const Groups groups = formation.form(present);
  Matrix result = identity(present.size());
  for (std::size_t g = 0; g < groups.count(); ++g) {
    double weight = 0;
    for (const PeerIndex j : groups.group(g)) weight += took_part[j] * formation.weights()[j];
    for (const PeerIndex i : groups.group(g)) {
      if (took_part[i] == 0) continue;
      for (const PeerIndex j : groups.group(g)) result[i][j] = took_part[j] * formation.weights()[j] / weight;
    }
  }
  formation.settle(groups, took_part);
  return result;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      for (std::size_t j = 0; j < a.size(); ++j) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

// Largest difference of a row's or a column's sum from 1.
double from_doubly_stochastic(const Matrix& matrix) {
  double worst = 0;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    double row = 0, column = 0;
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      if (matrix[i][j] < 0) return 1;
      row += matrix[i][j];
      column += matrix[j][i];
    }
    worst = std::max({worst, std::abs(row - 1), std::abs(column - 1)});
  }
  return worst;
}

// Largest difference of an entry from 1 / n: 0 when everybody has the average.
double from_average(const Matrix& matrix) {
  double worst = 0;
  for (const std::vector<double>& row : matrix) {
    for (const double entry : row) worst = std::max(worst, std::abs(entry - 1.0 / static_cast<double>(matrix.size())));
  }
  return worst;
}

Matrix after(const FormationSpec& spec, std::size_t peers, int steps) {
  const auto formation = make_formation(spec, std::vector<double>(peers, 1.0), 5);
  const std::vector<std::uint8_t> all(peers, 1);
  Matrix result = identity(peers);
  for (int step = 0; step < steps; ++step) result = product(mixing_matrix(*formation, all, all), result);
  return result;
}

}  // namespace

TEST_CASE(
    "every step's mixing matrix is symmetric and doubly stochastic, for any number of peers and whoever is gone") {
  RandomStream random(11);
  for (const FormationSpec& spec : {kComplete, kRing, kExponential, kAlternating, kRandomPairs}) {
    for (const std::size_t peers : {1, 2, 3, 7, 8, 16, 29}) {
      const auto formation = make_formation(spec, std::vector<double>(peers, 1.0), 3);
      for (int step = 0; step < 24; ++step) {
        std::vector<std::uint8_t> present(peers), took_part(peers);
        for (std::uint8_t& here : present) here = random.uniform() < 0.9 ? 1 : 0;
        for (std::uint8_t& took : took_part) took = random.uniform() < 0.9 ? 1 : 0;
        const Matrix matrix = mixing_matrix(*formation, present, took_part);
        CAPTURE(to_string(spec));
        CAPTURE(peers);
        CHECK(from_doubly_stochastic(matrix) < 1e-12);
        for (std::size_t i = 0; i < peers; ++i) {
          for (std::size_t j = 0; j < i; ++j) CHECK(matrix[i][j] == matrix[j][i]);
        }
      }
    }
  }
}

TEST_CASE(
    "the one-peer exponential graph is exact after log2 n steps, a planned grid after two, the ring is far from it") {
  CHECK(from_average(after(kExponential, 16, 4)) < 1e-15);
  CHECK(from_average(after(kExponential, 16, 3)) > 0.01);
  CHECK(from_average(after({Kind::planned_grid, {4, 4}}, 13, 2)) < 1e-15);
  CHECK(from_average(after(kRing, 16, 4)) > 0.1);
  CHECK(from_average(after(kRing, 16, 400)) < 1e-3);
}

TEST_CASE("every topology comes to the average, for numbers of peers that are no power of two") {
  for (const FormationSpec& spec : {kRing, kExponential, kAlternating, kRandomPairs}) {
    for (const std::size_t peers : {3, 6, 11, 13}) {
      CAPTURE(to_string(spec));
      CAPTURE(peers);
      CHECK(from_average(after(spec, peers, 600)) < 1e-6);
    }
  }
}

TEST_CASE("on the alternating exponential ring half of the hosts meet others in a step, and their turns alternate") {
  const auto formation = make_formation({Kind::alternating_exponential_ring, {2}}, std::vector<double>(16, 1.0), 1);
  const std::vector<std::uint8_t> all(16, 1);
  std::set<std::set<PeerIndex>> met;
  for (int step = 0; step < 6; ++step) {  // 8 hosts: three bits, two steps each
    const Groups groups = formation->form(all);
    std::size_t in_pairs = 0;
    for (std::size_t g = 0; g < groups.count(); ++g) {
      const std::span<const PeerIndex> group = groups.group(g);
      if (group.size() == 2) continue;
      REQUIRE(group.size() == 4);
      in_pairs += 2;
      CHECK(met.insert({group[0] / 2, group[2] / 2}).second);
    }
    CHECK(in_pairs == 4);
  }
  CHECK(met.size() == 12);  // 8 hosts with 3 partners each
}
