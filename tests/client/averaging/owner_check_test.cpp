// Owners' arithmetic, checked by the sketches of real averagings.
#include "shared/swarm/owner_check.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "client/averaging/norm_bound.h"
#include "client/averaging/own_sketches.h"
#include "shared/swarm/random_stream.h"
#include "tests/client/averaging/in_memory_group.h"

using namespace starling;
using namespace starling::averaging;

static_assert(kFewMembers == swarm::kFewContributors);

namespace {

Hash128 seed_of(std::uint64_t number) {
  swarm::RandomStream random(number + 1);
  Hash128 seed;
  for (std::uint8_t& byte : seed.bytes) byte = static_cast<std::uint8_t>(random.below(256));
  return seed;
}

// An averaging of gradients as they are: a few long coordinates, a common direction, and much noise.
class Audited {
 public:
  Audited(std::size_t members, const std::string& codec, float longest = 1) : group_(options_of(members, codec)) {
    swarm::RandomStream common(5);
    std::vector<double> direction(group_.input(0).size());
    for (double& value : direction) value = std::pow(common.uniform() * 2 - 1, 5);
    for (Rank rank = 0; rank < members; ++rank) {
      swarm::RandomStream noise(100 + rank);
      const auto samples = static_cast<double>(group_.weight(rank));
      for (std::size_t i = 0; i < direction.size(); ++i) {
        const double value = 0.3 * samples * direction[i] + std::sqrt(samples) * std::pow(noise.uniform() * 2 - 1, 5);
        group_.input(rank)[i] = static_cast<float>(1e-3 * value) * (rank == 1 ? longest : 1.0F);
      }
    }
    group_.run();
    result = group_.output(0);
  }

  // The coordinator's findings, where members sketch with this seed; `change` may make their words others.
  template <typename Change>
  std::vector<swarm::PartCheck> check(const Hash128& seed, Change change) {
    std::vector<wire::OwnSketches> own;
    for (Rank rank = 0; rank < group_.size(); ++rank) {
      own.push_back(own_sketches(group_.group(), rank, group_.input(rank), result, seed));
    }
    change(own);
    swarm::SketchedRound round{group_.group(), seed, group_.outcome(0)->samples, {}, {}};
    for (Rank rank = 0; rank < group_.size(); ++rank) {
      round.measured.push_back(&*group_.outcome(rank)->measured);
      round.own.push_back(&own[rank]);
    }
    return swarm::check_owners(round);
  }
  std::vector<swarm::PartCheck> check(const Hash128& seed) {
    return check(seed, [](std::vector<wire::OwnSketches>&) {});
  }

  // The length of a part of the result, and where it begins.
  [[nodiscard]] std::span<float> part(Rank owner) {
    std::size_t begin = 0;
    for (Rank rank = 0; rank < owner; ++rank) {
      begin += static_cast<std::size_t>(group_.group().members[rank].part_floats);
    }
    return std::span(result).subspan(begin, static_cast<std::size_t>(group_.group().members[owner].part_floats));
  }

  std::vector<float> result;  // all members hold it

 private:
  static GroupOptions options_of(std::size_t members, const std::string& codec) {
    GroupOptions options;
    options.members = members;
    options.vector_floats = static_cast<std::int64_t>(members) * 1500;
    options.segment_floats = 700;
    options.codec = codec;
    options.weights.assign(members, 40);
    options.weights[0] = 3;
    options.audited = true;
    return options;
  }

  InMemoryGroup group_;
};

double length(std::span<const float> values) {
  double square = 0;
  for (const float value : values) square += static_cast<double>(value) * value;
  return std::sqrt(square);
}

}  // namespace

TEST_CASE("honest owners are never found off, with any codec, group and seed") {
  for (const char* const codec : {"fp32", "fp16", "bf16", "int8", "int4"}) {
    double nearest = 0;
    int parts = 0;
    for (const std::size_t members : {2, 3, 5, 16, 32}) {
      CAPTURE(codec);
      CAPTURE(members);
      Audited group(members, codec, members > 3 ? 30.0F : 1.0F);
      for (std::uint64_t number = 0; number < 1600 / members; ++number) {
        const std::vector<swarm::PartCheck> checks = group.check(seed_of(number));
        REQUIRE(checks.size() == members);
        for (const swarm::PartCheck& check : checks) {
          CHECK_FALSE(check.residual.is_off());
          nearest = std::max(nearest, check.residual.residual / check.residual.explained);
          ++parts;
        }
      }
    }
    fmt::print("{}: {} parts, residuals at most {:.2f} of what rounding explains\n", codec, parts, nearest);
    CHECK(nearest < 0.6);
  }
}

TEST_CASE("an owner that shifts its part by a thousandth is found, whatever it adds and whatever the seed") {
  for (const std::size_t members : {2, 7, 32}) {
    for (const bool single : {false, true}) {
      CAPTURE(members);
      CAPTURE(single);
      Audited group(members, "fp32");
      const Rank liar = members / 2;
      const std::span<float> part = group.part(liar);
      const double shift = 1e-3 * length(part);
      swarm::RandomStream random(3);
      for (float& value : part) {
        const double each = shift / std::sqrt(static_cast<double>(part.size()));
        if (!single) value += static_cast<float>(random.uniform() < 0.5 ? each : -each);
      }
      if (single) part[7] += static_cast<float>(shift);
      for (std::uint64_t number = 0; number < 100; ++number) {
        for (const swarm::PartCheck& check : group.check(seed_of(number))) {
          CHECK(check.residual.is_off() == (check.owner == liar));
          CHECK_FALSE(check.scaled_otherwise);
        }
      }
    }
  }
}

TEST_CASE("a member that lies about what it sent shows in the parts about which it lies") {
  Audited group(6, "fp16");
  for (std::uint64_t number = 0; number < 100; ++number) {
    const auto checks = group.check(seed_of(number), [](std::vector<wire::OwnSketches>& own) {
      for (const std::size_t part : {1, 4}) {
        for (std::size_t i = 0; i < wire::kShortSketchFloats; ++i) {
          own[2].contributed[part * wire::kShortSketchFloats + i] *= 1.5F;
        }
      }
    });
    REQUIRE(checks.size() == 6);
    for (const swarm::PartCheck& check : checks) {
      CHECK(check.residual.is_off() == (check.owner == 1 || check.owner == 4));
    }
  }
}

TEST_CASE("most accounts decide what the result is, and words that are no sketches count for nothing") {
  Audited group(5, "fp32");
  const auto checks = group.check(seed_of(1), [](std::vector<wire::OwnSketches>& own) {
    for (float& value : own[0].result) value *= 2;
    own[3].result.clear();
  });
  REQUIRE(checks.size() == 5);
  for (const swarm::PartCheck& check : checks) CHECK_FALSE(check.residual.is_off());
  CHECK(group.check(seed_of(1), [](std::vector<wire::OwnSketches>& own) { own[2].contributed.pop_back(); }).empty());
  const auto endless =
      group.check(seed_of(1), [](std::vector<wire::OwnSketches>& own) { own[2].contributed.front() = INFINITY; });
  REQUIRE(endless.size() == 5);
  for (const swarm::PartCheck& check : endless) CHECK(check.residual.is_off() == (check.owner == 0));
}
