// Which parts are checked, and by whose word. Real averagings are in tests/client/averaging.
#include "shared/swarm/owner_check.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace starling;
using namespace starling::swarm;

namespace {

constexpr std::size_t kShort = wire::kShortSketchFloats;

// Four members with a part each, of different accounts. Member m brings sketches of 1 + m, and owner o multiplies what
// member 3 brings by factors[o].
struct Round {
  explicit Round(std::vector<float> factors_of_3) : factors(std::move(factors_of_3)) {
    plan.members.resize(4);
    measured.resize(4);
    own.resize(4);
    for (std::size_t owner = 0; owner < 4; ++owner) {
      plan.members[owner].part_floats = 100;
      for (std::int64_t rank = 0; rank < 4; ++rank) {
        if (rank != static_cast<std::int64_t>(owner)) measured[owner].members.push_back(rank);
      }
      measured[owner].sketches.resize(3 * wire::kSketchFloats);
      if (owner < 3) measured[owner].factors = {1, 1, factors[owner]};
      own[owner].contributed.assign(4 * kShort, static_cast<float>(owner + 1));
      for (std::size_t part = 0; part < 4; ++part) {
        own[owner].result.insert(own[owner].result.end(), kShort, (1 + 2 + 3 + 4 * factors[part]) / 40);
      }
    }
  }
  [[nodiscard]] std::vector<PartCheck> check(bool all_whole = false) const {
    SketchedRound round{plan, {}, samples, {}, {}};
    for (std::size_t rank = 0; rank < 4; ++rank) {
      round.measured.push_back(&measured[rank]);
      round.own.push_back(&own[rank]);
    }
    return check_owners(round, all_whole);
  }

  std::vector<float> factors;
  std::vector<SampleCount> samples{10, 10, 10, 10};
  wire::GroupInfo plan;
  std::vector<wire::MeasuredParts> measured;
  std::vector<wire::OwnSketches> own;
};

}  // namespace

TEST_CASE("short sketches have the buckets added up by fours") {
  Sketch sketch{};
  for (std::size_t i = 0; i < sketch.size(); ++i) sketch[i] = static_cast<double>(i);
  const ShortSketch sums = shortened(sketch);
  CHECK(sums[0] == 0 + 1 + 2 + 3);
  CHECK(sums[15] == 60 + 61 + 62 + 63);
}

TEST_CASE("what most accounts' owners multiplied a contribution by holds for all, its own part too") {
  const std::vector<PartCheck> checks = Round({0.5F, 0.5F, 0.5F, 0.5F}).check();
  REQUIRE(checks.size() == 4);
  for (const PartCheck& check : checks) CHECK_FALSE(check.residual.is_off());
  // Member 3 owns part 3, and has not scaled itself.
  for (const PartCheck& check : Round({0.5F, 0.5F, 0.5F, 1}).check()) {
    CHECK(check.residual.is_off() == (check.owner == 3));
    CHECK_FALSE(check.scaled_otherwise);
  }
}

TEST_CASE("an owner that scaled otherwise than most is told apart from one that cannot add up") {
  Round round({0.5F, 0.5F, 0.7F, 0.5F});
  for (const PartCheck& check : round.check()) {
    CHECK(check.residual.is_off() == (check.owner == 2));
    CHECK(check.scaled_otherwise == (check.owner == 2));
  }
  round.measured[2].factors = {1, 1, 0.5F};
  for (const PartCheck& check : round.check()) CHECK_FALSE(check.scaled_otherwise);
  // The computers of one account have one voice.
  Round account({0.5F, 0.5F, 1, 1});
  for (const std::size_t rank : {0, 1}) account.plan.members[rank].voter = 7;
  CHECK(account.check().size() == 4);
  // One account against another: nobody has most, so each owner is believed about its own part.
  for (const PartCheck& check : account.check()) CHECK_FALSE(check.residual.is_off());
}

TEST_CASE("nothing is checked unless everybody was counted whole, as owners tell or the caller knows") {
  Round round({1, 1, 1, 1});
  round.measured[1].members = {0, 3};
  round.measured[1].sketches.resize(2 * wire::kSketchFloats);
  CHECK(round.check().empty());
  CHECK(round.check(true).size() == 4);
  round.samples[2] = 0;  // who brought nothing is not missing
  CHECK(round.check().size() == 4);
  round = Round({1, 1, 1, 1});
  round.plan.codec = "sparse";
  CHECK(round.check().empty());
}

TEST_CASE("a result of nothing where there was something is off, and nothing of nothing is not") {
  const std::vector<float> ones(kShort, 1);
  const std::vector<float> zeros(kShort, 0);
  const std::vector<SketchedContribution> brought{{10, 1, ones}};
  const std::vector<SketchedContribution> nothing{{10, 1, zeros}};
  CHECK(residual_of(brought, zeros, wire::Codec::int4, 64).is_off());
  CHECK_FALSE(residual_of(nothing, zeros, wire::Codec::fp32, 64).is_off());
  CHECK(residual_of(nothing, ones, wire::Codec::int8, 64).is_off());
}
