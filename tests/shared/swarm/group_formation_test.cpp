#include "shared/swarm/group_formation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "shared/swarm/random_stream.h"

using namespace starling;
using namespace starling::swarm;

namespace {

using Kind = FormationSpec::Kind;

// Peers with a value each, averaging by a formation.
struct Swarm {
  Swarm(const FormationSpec& spec, std::vector<double> peer_weights, std::uint64_t seed)
      : random(seed), weights(std::move(peer_weights)), formation(make_formation(spec, weights, seed)) {
    for (std::size_t i = 0; i < weights.size(); ++i) values.push_back(random.uniform() * 2);
    present.assign(weights.size(), 1);
    average = total() / std::accumulate(weights.begin(), weights.end(), 0.0);
  }

  // One round; peers in `failing` are in their groups but get no result.
  Groups round(const std::set<PeerIndex>& failing = {}) {
    Groups groups = formation->form(present);
    std::vector<std::uint8_t> took_part(values.size(), 1);
    for (const PeerIndex peer : failing) took_part[peer] = 0;
    for (std::size_t g = 0; g < groups.count(); ++g) {
      double sum = 0;
      double weight = 0;
      for (const PeerIndex peer : groups.group(g)) {
        if (took_part[peer] == 0) continue;
        sum += formation->weights()[peer] * values[peer];
        weight += formation->weights()[peer];
      }
      for (const PeerIndex peer : groups.group(g)) {
        if (took_part[peer] != 0 && weight > 0) values[peer] = sum / weight;
      }
    }
    formation->settle(groups, took_part);
    return groups;
  }

  [[nodiscard]] double total() const {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += formation->weights()[i] * values[i];
    return sum;
  }
  [[nodiscard]] double farthest() const {
    double distance = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (present[i] != 0) distance = std::max(distance, std::abs(values[i] - average));
    }
    return distance;
  }

  RandomStream random;
  std::vector<double> weights;
  std::unique_ptr<GroupFormation> formation;
  std::vector<double> values;
  std::vector<std::uint8_t> present;
  double average = 0;
};

std::vector<double> ones(std::size_t count) { return std::vector<double>(count, 1.0); }

// A sample count a peer, from nothing to a lot.
std::vector<double> uneven(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<double> weights;
  for (std::size_t i = 0; i < count; ++i) weights.push_back(static_cast<double>(1 + random.below(1000)));
  return weights;
}

std::vector<std::size_t> sizes(const Groups& groups) {
  std::vector<std::size_t> result;
  for (std::size_t g = 0; g < groups.count(); ++g) result.push_back(groups.group(g).size());
  return result;
}

// Everybody present is in one group, nobody else is in any.
bool is_partition(const Groups& groups, const std::vector<std::uint8_t>& present) {
  std::vector<std::uint8_t> seen(present.size(), 0);
  for (std::size_t g = 0; g < groups.count(); ++g) {
    if (groups.group(g).empty()) return false;
    for (const PeerIndex peer : groups.group(g)) {
      if (seen[peer]++ != 0) return false;
    }
  }
  return seen == present;
}

FormationSpec grid(std::vector<std::uint32_t> sides) { return {Kind::planned_grid, std::move(sides)}; }

}  // namespace

TEST_CASE("every formation puts everybody present into one group and nobody else into any") {
  for (const FormationSpec& spec : {FormationSpec{}, FormationSpec{Kind::random_groups, {7}},
                                    FormationSpec{Kind::moshpit_keys, {5, 5, 5}}, grid({5, 5, 5})}) {
    Swarm swarm(spec, ones(97), 3);
    for (int round = 0; round < 7; ++round) {
      for (std::uint8_t& here : swarm.present) here = swarm.random.uniform() < 0.8 ? 1 : 0;
      CAPTURE(to_string(spec));
      CHECK(is_partition(swarm.round(), swarm.present));
    }
  }
}

TEST_CASE("equal seeds form equal groups") {
  Swarm one(grid({8, 8}), ones(60), 5);
  Swarm two(grid({8, 8}), ones(60), 5);
  for (int round = 0; round < 4; ++round) {
    const Groups a = one.round({7});
    const Groups b = two.round({7});
    REQUIRE(a.count() == b.count());
    for (std::size_t g = 0; g < a.count(); ++g) {
      CHECK(std::equal(a.group(g).begin(), a.group(g).end(), b.group(g).begin(), b.group(g).end()));
    }
  }
}

TEST_CASE("the planned grid is exact after as many rounds as it has sides, whatever the number of peers") {
  const std::pair<std::size_t, std::vector<std::uint32_t>> cases[] = {
      {60, {8, 8}},         {512, {23, 23}}, {900, {30, 30}},     {1000, {32, 32}}, {1024, {32, 32}},
      {1000, {10, 10, 10}}, {2, {2, 2}},     {3, {2, 2}},         {17, {4, 4}},     {997, {10, 10, 10}},
      {5, {32, 32}},        {1, {3, 3}},     {777, {5, 6, 5, 6}}, {100, {40, 3}},   {100, {3, 40}}};
  for (const auto& one : cases) {
    const std::size_t peers = one.first;
    const std::vector<std::uint32_t>& sides = one.second;
    for (const bool weighted : {false, true}) {
      Swarm swarm(grid(sides), weighted ? uneven(peers, 11) : ones(peers), 7);
      for (std::size_t round = 0; round < sides.size(); ++round) swarm.round();
      CAPTURE(peers);
      CAPTURE(to_string(grid(sides)));
      CAPTURE(weighted);
      CHECK(swarm.farthest() <= 1e-12 * swarm.average);
    }
  }
}

TEST_CASE("the planned grid's groups stay close to its sides") {
  for (const std::size_t peers : {60, 61, 100, 512, 900, 1000}) {
    const auto side = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(peers))));
    Swarm swarm(grid({side, side}), ones(peers), 1);
    for (int round = 0; round < 2; ++round) {
      const std::vector<std::size_t> members = sizes(swarm.round());
      CAPTURE(peers);
      CHECK(*std::max_element(members.begin(), members.end()) <= side + 2);
    }
  }
}

TEST_CASE("the planned grid is exact for whoever is present, and those who come back leave with the result") {
  Swarm swarm(grid({10, 10}), ones(100), 9);
  swarm.round();
  // A column loses three members, others lose one or none: their averaged values are still there.
  for (const PeerIndex gone : {3, 14, 15, 92, 65, 35}) swarm.present[gone] = 0;
  swarm.round();
  CHECK(swarm.farthest() <= 1e-12);
  std::fill(swarm.present.begin(), swarm.present.end(), 1);
  swarm.round();
  swarm.round();
  CHECK(swarm.farthest() <= 1e-12);
}

TEST_CASE("weight and the weighted sum of all values are conserved, whoever fails") {
  for (const FormationSpec& spec : {FormationSpec{}, FormationSpec{Kind::random_groups, {7}},
                                    FormationSpec{Kind::moshpit_keys, {5, 5, 5}}, grid({11, 11}), grid({5, 5, 5})}) {
    Swarm swarm(spec, uneven(123, 2), 4);
    const double total = swarm.total();
    const double weight = std::accumulate(swarm.weights.begin(), swarm.weights.end(), 0.0);
    for (int round = 0; round < 12; ++round) {
      std::set<PeerIndex> failing;
      for (int k = 0; k < 20; ++k) failing.insert(swarm.random.below(123));
      swarm.round(failing);
      CAPTURE(to_string(spec));
      CAPTURE(round);
      const std::span<const double> now = swarm.formation->weights();
      CHECK(std::accumulate(now.begin(), now.end(), 0.0) == doctest::Approx(weight).epsilon(1e-12));
      CHECK(swarm.total() == doctest::Approx(total).epsilon(1e-12));
    }
  }
}

TEST_CASE("after failures the planned grid still goes to the exact average") {
  for (const auto& sides : {std::vector<std::uint32_t>{8, 8}, {4, 4, 4}}) {
    Swarm swarm(grid(sides), ones(60), 21);
    swarm.round({1, 2, 3});
    swarm.round({4, 5});
    for (int round = 0; round < 60; ++round) swarm.round();
    CHECK(swarm.farthest() <= 1e-12);
  }
}

TEST_CASE("a square planned grid is exact after any two rounds in a row in which nobody fails") {
  for (int failing_rounds = 1; failing_rounds < 6; ++failing_rounds) {
    Swarm swarm(grid({14, 14}), uneven(200, 5), 31);
    for (int round = 0; round < failing_rounds; ++round) swarm.round({swarm.random.below(200)});
    CAPTURE(failing_rounds);
    CHECK(swarm.farthest() > 1e-9);
    swarm.round();
    swarm.round();
    CHECK(swarm.farthest() <= 1e-12);
  }
}

TEST_CASE("groups stay close to the sides, however long a swarm with failures goes on") {
  Swarm swarm(grid({20, 20}), ones(390), 8);
  for (int round = 0; round < 200; ++round) {
    std::set<PeerIndex> failing;
    for (int k = 0; k < 20; ++k) failing.insert(swarm.random.below(390));
    const std::vector<std::size_t> members = sizes(swarm.round(failing));
    CHECK(*std::max_element(members.begin(), members.end()) <= 40);
  }
}

TEST_CASE("a column that almost everybody has left does not make the groups of the next round huge") {
  Swarm swarm(grid({10, 10}), ones(100), 13);
  const Groups columns = swarm.round();
  for (std::size_t k = 1; k < columns.group(4).size(); ++k) swarm.present[columns.group(4)[k]] = 0;
  const std::vector<std::size_t> members = sizes(swarm.round());
  CHECK(*std::max_element(members.begin(), members.end()) <= 23);
}

TEST_CASE("Moshpit keys average exactly on a full grid, and nobody meets the same peer twice in as many rounds") {
  for (const auto& [side, dims] : {std::pair<std::uint32_t, std::size_t>{8, 2}, {4, 3}}) {
    const auto peers = static_cast<std::size_t>(std::pow(side, dims));
    Swarm swarm({Kind::moshpit_keys, std::vector<std::uint32_t>(dims, side)}, ones(peers), 17);
    std::set<std::pair<PeerIndex, PeerIndex>> met;
    for (std::size_t round = 0; round < dims; ++round) {
      const Groups groups = swarm.round();
      CHECK(groups.count() == peers / side);
      for (std::size_t g = 0; g < groups.count(); ++g) {
        for (const PeerIndex a : groups.group(g)) {
          for (const PeerIndex b : groups.group(g)) {
            if (a < b) CHECK(met.insert({a, b}).second);
          }
        }
      }
    }
    CHECK(swarm.farthest() <= 1e-12);
  }
}

TEST_CASE("random groups are of equal size, give or take one") {
  Swarm swarm({Kind::random_groups, {10}}, ones(1004), 1);
  for (const std::size_t members : sizes(swarm.round())) {
    CHECK(members >= 10);
    CHECK(members <= 11);
  }
}
