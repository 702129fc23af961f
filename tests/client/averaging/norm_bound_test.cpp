#include "client/averaging/norm_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/client/averaging/in_memory_group.h"

using namespace starling;
using namespace starling::averaging;

namespace {

constexpr std::int64_t kFloats = 600;
using Verdict = AveragingOutcome::Verdict;
using Floats = std::vector<float>;

// The sum of `samples` independent gradients: a common direction, and noise of variance 1 a coordinate and sample.
Floats honest(SampleCount samples, unsigned seed, double direction = 0.05) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, std::sqrt(static_cast<double>(samples)));
  Floats sum(kFloats);
  for (float& value : sum) value = static_cast<float>(direction * static_cast<double>(samples) + noise(random));
  return sum;
}

double length(const Floats& values) {
  double square = 0;
  for (const float value : values) square += static_cast<double>(value) * value;
  return std::sqrt(square);
}

GroupOptions group_of(std::vector<SampleCount> weights) {
  GroupOptions options;
  options.members = weights.size();
  options.vector_floats = kFloats;
  options.weights = std::move(weights);
  return options;
}

// Averages honest gradients, of which `change` may make others.
template <typename Change>
InMemoryGroup averaged(const GroupOptions& options, Change change) {
  InMemoryGroup group(options, {});
  for (Rank rank = 0; rank < group.size(); ++rank) {
    const Floats gradient = honest(group.weight(rank), static_cast<unsigned>(100 + rank));
    std::copy(gradient.begin(), gradient.end(), group.input(rank).begin());  // engines read where it lies
    change(rank, group.input(rank));
  }
  group.run();
  return group;
}

void nothing(Rank, Floats&) {}

bool equal(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("the mean of an honest group stays as it is, to the bit, with 1 to 1000 samples") {
  const std::vector<SampleCount> weights{1, 2, 5, 10, 50, 100, 400, 1000};
  for (const std::size_t members : {2UL, 3UL, 4UL, 8UL}) {
    CAPTURE(members);
    GroupOptions options = group_of({weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(members)});
    if (members < 4) options.weights.back() = 1000;
    InMemoryGroup bounded = averaged(options, nothing);
    options.engine.norm_ratio_max = 0;
    InMemoryGroup plain = averaged(options, nothing);
    for (Rank rank = 0; rank < members; ++rank) {
      REQUIRE(bounded.outcome(rank)->verdict == Verdict::averaged);
      CAPTURE(rank);
      for (const ScaledMember& each : bounded.outcome(rank)->scaled)
        FAIL_CHECK("scaled ", each.rank, " by ", each.factor);
      CHECK(equal(bounded.output(rank), plain.output(rank)));
    }
  }
}

TEST_CASE("of a vector that is far too long, no more counts than twice what is usual") {
  for (const float times : {1e10F, -1000.0F}) {
    for (const std::size_t members : {2UL, 3UL, 5UL, 16UL}) {
      for (const char* const codec : {"fp32", "int8", "int4", "bf16"}) {
        CAPTURE(times);
        CAPTURE(members);
        CAPTURE(codec);
        GroupOptions options = group_of(std::vector<SampleCount>(members, 1000));
        options.codec = codec;
        options.shares.assign(members, 1);
        options.shares[1] = 0;  // an owner is believed in its own part
        const InMemoryGroup honest_group = averaged(options, nothing);
        const double usual = length(honest(1000, 100)) / 1000;
        InMemoryGroup group = averaged(options, [times](Rank rank, Floats& input) {
          if (rank == 1) std::for_each(input.begin(), input.end(), [times](float& value) { value *= times; });
        });
        REQUIRE(group.outcome(0)->verdict == Verdict::averaged);
        REQUIRE(group.outcome(0)->scaled.size() == 1);
        CHECK(group.outcome(0)->scaled[0].rank == 1);
        CHECK(length(group.output(0)) < length(honest_group.output(0)) + 3.5 * usual / static_cast<double>(members));
      }
    }
  }
}

TEST_CASE("seven of sixteen that bring long vectors move the mean no further than by their bounded shares") {
  InMemoryGroup group = averaged(group_of(std::vector<SampleCount>(16, 1000)), [](Rank rank, Floats& input) {
    if (rank >= 9) std::fill(input.begin(), input.end(), 1e6F);
  });
  REQUIRE(group.outcome(0)->verdict == Verdict::averaged);
  CHECK(group.outcome(0)->scaled.size() == 7);
  CHECK(length(group.output(0)) < 7.0 / 16 * 2.1 * length(honest(1000, 100)) / 1000 + 1.0);
}

TEST_CASE("an account has one vote about what is usual, however many computers it brings") {
  GroupOptions options = group_of(std::vector<SampleCount>(12, 1000));
  const auto lie = [](Rank rank, Floats& input) {
    if (rank >= 5) std::fill(input.begin(), input.end(), 1e6F);
  };
  CHECK(averaged(options, lie).outcome(0)->scaled.empty());
  options.voters.assign(12, 0);
  std::fill(options.voters.begin() + 5, options.voters.end(), 1);
  CHECK(averaged(options, lie).outcome(0)->scaled.size() == 7);
}

TEST_CASE("around a center, what is far from it is drawn toward it, however long that is") {
  // The common direction is ten times as long as the noise that is left of a thousand samples.
  constexpr double kDirection = 0.3;
  GroupOptions options = group_of(std::vector<SampleCount>(16, 1000));
  const auto turned = [](Rank rank, Floats& input) {
    Floats sum = honest(1000, static_cast<unsigned>(100 + rank), kDirection);
    if (rank >= 9) std::for_each(sum.begin(), sum.end(), [](float& value) { value = -value; });
    std::copy(sum.begin(), sum.end(), input.begin());
  };
  const auto off_by = [](const Floats& mean) {
    double square = 0;
    for (const float value : mean) square += (value - kDirection) * (value - kDirection);
    return std::sqrt(square / kFloats);
  };
  // Around zero, gradients that are turned about are as long as any.
  InMemoryGroup clipped = averaged(options, turned);
  REQUIRE(clipped.outcome(0)->verdict == Verdict::averaged);
  CHECK(off_by(clipped.output(0)) > 0.8 * kDirection);
  options.center.assign(kFloats, static_cast<float>(kDirection));
  for (const char* const codec : {"fp32", "int8"}) {
    CAPTURE(codec);
    options.codec = codec;
    InMemoryGroup centered = averaged(options, turned);
    REQUIRE(centered.outcome(0)->verdict == Verdict::averaged);
    REQUIRE(centered.outcome(0)->scaled.size() == 7);
    for (const ScaledMember& each : centered.outcome(0)->scaled) CHECK(each.factor == 0);
    CHECK(off_by(centered.output(0)) < 0.15 * kDirection);
    for (Rank rank = 1; rank < 16; ++rank) CHECK(equal(centered.output(rank), centered.output(0)));
  }
}

TEST_CASE("around a center, the mean of an honest group hardly changes") {
  GroupOptions options = group_of({50, 100, 400, 1000, 20, 70, 300});
  const InMemoryGroup plain = averaged(options, nothing);
  options.center.assign(kFloats, 0.04F);
  InMemoryGroup centered = averaged(options, nothing);
  REQUIRE(centered.outcome(0)->verdict == Verdict::averaged);
  Floats apart = plain.output(0);
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] -= centered.output(0)[i];
  CHECK(length(apart) < 0.05 * length(plain.output(0)));
}

TEST_CASE("seven of sixteen that agree on what to say cannot keep the center away from the others") {
  constexpr double kDirection = 0.3;
  GroupOptions options = group_of(std::vector<SampleCount>(16, 1000));
  options.center.assign(kFloats, 0.0F);
  const auto away = [&options] {
    double square = 0;
    for (const float value : options.center) square += (value - kDirection) * (value - kDirection);
    return std::sqrt(square);
  };
  const double before = away();
  for (unsigned round = 0; round < 8; ++round) {
    const InMemoryGroup group = averaged(options, [&](Rank rank, Floats& input) {
      const Floats sum = honest(1000, 100 * round + static_cast<unsigned>(rank), kDirection);
      for (std::size_t i = 0; i < input.size(); ++i) {
        const float center = options.center[i];
        input[i] = rank < 9 ? sum[i] : 1000 * (center - 2 * (static_cast<float>(kDirection) - center));
      }
    });
    REQUIRE(group.outcome(0)->verdict == Verdict::averaged);
    options.center = group.output(0);
  }
  CHECK(away() < 0.5 * before);
}

TEST_CASE("around a center, the first round in which most are liars moves nobody far") {
  GroupOptions options = group_of(std::vector<SampleCount>(16, 1000));
  options.center.assign(kFloats, 0.0F);
  options.shares.assign(16, 1);
  std::fill(options.shares.begin() + 7, options.shares.end(), 0);  // an owner is believed in its own part
  InMemoryGroup group = averaged(options, [](Rank rank, Floats& input) {
    if (rank >= 7) std::for_each(input.begin(), input.end(), [](float& value) { value *= 1e10F; });
  });
  REQUIRE(group.outcome(0)->verdict == Verdict::averaged);
  CHECK(group.outcome(0)->scaled.size() == 9);
  CHECK(length(group.output(0)) < length(honest(1000, 100)) / 1000);
  REQUIRE(group.outcome(0)->usual);
  CHECK(std::sqrt(group.outcome(0)->usual->square) < 3 * length(honest(1000, 100)) / 1000);
}

TEST_CASE("what was usual in recent rounds counts, and is told on") {
  GroupOptions options = group_of({1000, 1000, 1000, 1000, 1000});
  InMemoryGroup first = averaged(options, nothing);
  const auto usual = first.outcome(0)->usual;
  REQUIRE(usual);
  CHECK(usual->samples == 1000);
  CHECK(std::sqrt(usual->square) == doctest::Approx(length(honest(1000, 100)) / 1000).epsilon(0.2));
  // A group that has become ten times calmer does not cut off whoever still is as it was.
  const auto calm = [](Rank rank, Floats& input) {
    if (rank > 0) std::for_each(input.begin(), input.end(), [](float& value) { value *= 0.1F; });
  };
  CHECK(averaged(options, calm).outcome(1)->scaled.size() == 1);
  options.engine.usual = {*usual};
  CHECK(averaged(options, calm).outcome(1)->scaled.empty());
}

TEST_CASE("a usual square is carried over to other numbers of samples") {
  const UsualNorm usual{10, 4};
  CHECK(carried_over(usual, 10, NormLaw::gradient) == 4);
  CHECK(carried_over(usual, 1, NormLaw::gradient) == 40);
  CHECK(carried_over(usual, 1000, NormLaw::gradient) == 4);
  CHECK(carried_over(usual, 1, NormLaw::displacement) == 4);
  CHECK(carried_over(usual, 20, NormLaw::displacement) == 16);
}

TEST_CASE("displacements grow with the steps that they are of") {
  const std::vector<SampleCount> steps{1, 4, 16, 64, 64, 64};
  const auto walked = [&steps](Rank rank, Floats& input) {
    const auto own = static_cast<float>(steps[rank]);
    for (float& value : input) value = own * own * 0.01F;  // samples x a displacement in proportion to them
  };
  GroupOptions options = group_of(steps);
  options.engine.norm_law = NormLaw::displacement;
  CHECK(averaged(options, walked).outcome(0)->scaled.empty());
  InMemoryGroup group = averaged(options, [&walked](Rank rank, Floats& input) {
    walked(rank, input);
    if (rank == 5) std::for_each(input.begin(), input.end(), [](float& value) { value *= -1000; });
  });
  REQUIRE(group.outcome(0)->scaled.size() == 1);
  CHECK(group.outcome(0)->scaled[0].factor < 0.01F);
}

TEST_CASE("a few samples may be far from what is usual, and count for little") {
  for (const SampleCount few : {2, 100}) {
    InMemoryGroup group = averaged(group_of({100, 100, 100, 100, few}), [](Rank rank, Floats& input) {
      if (rank == 4) std::for_each(input.begin(), input.end(), [](float& value) { value *= 3; });
    });
    REQUIRE(group.outcome(0)->verdict == Verdict::averaged);
    CHECK(group.outcome(0)->scaled.empty() == (few == 2));
  }
}

TEST_CASE("vectors of zeros bound nobody") {
  InMemoryGroup group = averaged(group_of({1000, 1000, 1000, 1000, 1000}), [](Rank rank, Floats& input) {
    if (rank != 2) std::fill(input.begin(), input.end(), 0.0F);
  });
  REQUIRE(group.outcome(0)->verdict == Verdict::averaged);
  CHECK(group.outcome(0)->scaled.empty());
  CHECK(length(group.output(0)) > 0);
}
