// Owners' sketches of others' contributions, where rounds are audited.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "client/averaging/codec.h"
#include "client/averaging/own_sketches.h"
#include "client/averaging/segment_table.h"
#include "shared/protocol/audit.h"
#include "shared/swarm/measured_members.h"
#include "shared/swarm/owner_check.h"
#include "shared/swarm/sketch.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"

using namespace starling;
using namespace starling::averaging;
using Verdict = AveragingOutcome::Verdict;
using Kind = averaging::Fault::Kind;

namespace {

GroupOptions audited(std::size_t members) {
  GroupOptions options;
  options.members = members;
  options.vector_floats = static_cast<std::int64_t>(members) * 150;
  options.audited = true;
  return options;
}

// The sketch of a member's contribution to an owner's part, after it has gone through its codec and back.
swarm::Sketch sketch_of(InMemoryGroup& group, Rank owner, Rank sender, const Hash128& seed) {
  const SegmentTable table(group.group());
  const Codec codec = wire::contribution_codec(group.group(), sender);
  swarm::Sketch sketch{};
  for (SegmentIndex segment = table.first(owner); segment < table.first(owner + 1); ++segment) {
    std::vector<float> values(table[segment].floats);
    std::copy_n(group.input(sender).begin() + table[segment].begin, values.size(), values.begin());
    std::vector<std::uint8_t> bytes(encoded_bytes(codec, values.size()));
    encode(codec, values, bytes);
    REQUIRE(decode(codec, bytes, values).ok());
    swarm::add_to_sketch(seed, table[segment].begin, values, sketch);
  }
  return sketch;
}

swarm::Sketch told_sketch(const wire::MeasuredParts& measured, std::size_t place) {
  swarm::Sketch sketch{};
  for (std::size_t i = 0; i < sketch.size(); ++i) sketch[i] = measured.sketches[place * sketch.size() + i];
  return sketch;
}

// Checks everything that an owner has told; returns of whom it has.
std::vector<Rank> check_told(InMemoryGroup& group, Rank owner) {
  CAPTURE(owner);
  std::vector<Rank> members;
  const std::optional<wire::MeasuredParts>& measured = group.outcome(owner)->measured;
  REQUIRE(measured.has_value());
  CHECK(measured->seed == sketch_seed_of(owner));
  REQUIRE(measured->sketches.size() == measured->members.size() * wire::kSketchFloats);
  for (std::size_t i = 0; i < measured->members.size(); ++i) {
    members.push_back(static_cast<Rank>(measured->members[i]));
    CAPTURE(members.back());
    // Segments may have come in another order, which shows in a double's last bits only.
    const swarm::Sketch expected = sketch_of(group, owner, members.back(), measured->seed);
    CHECK(swarm::relative_distance(told_sketch(*measured, i), expected) < 1e-7);
  }
  CHECK(std::is_sorted(members.begin(), members.end()));
  return members;
}

// Whether the member is in every coordinate of the owner's part.
bool whole(const InMemoryGroup& group, Rank by, Rank owner, Rank member) {
  const SegmentTable table(group.group());
  const std::int64_t begin = table[table.first(owner)].begin;
  const std::int64_t end = begin + group.group().members[owner].part_floats;
  for (const ContributorRun& run : group.outcome(by)->contributors) {
    if (run.begin < end && run.begin + run.floats > begin && !run.members.test(member)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("each owner tells what the others have contributed to its part, as it was decoded") {
  for (const char* const codec : {"fp32", "fp16", "bf16", "int8", "int4"}) {
    for (const unsigned seed : {1U, 2U}) {
      CAPTURE(codec);
      GroupOptions options = audited(5);
      options.codec = codec;
      options.codecs = {"", "", codec == std::string("fp16") ? "int8" : "", "", ""};
      options.seed = seed;
      InMemoryGroup group(options);
      group.run();
      for (Rank owner = 0; owner < 5; ++owner) {
        CHECK(check_told(group, owner).size() == 4);
        CHECK(group.outcome(owner)->measured->factors.empty());
      }
    }
  }
}

TEST_CASE("without audits, without a seed or without a part, a member measures nothing") {
  GroupOptions options = audited(4);
  options.audited = false;
  options.engine.sketch_seed = sketch_seed_of(0);
  InMemoryGroup unaudited(options);
  unaudited.run();
  for (Rank rank = 0; rank < 4; ++rank) CHECK_FALSE(unaudited.outcome(rank)->measured.has_value());
  options = audited(4);
  options.undialable = {false, true, false, false};
  InMemoryGroup group(options);
  group.run();
  CHECK_FALSE(group.outcome(1)->measured.has_value());
  CHECK(check_told(group, 0) == std::vector<Rank>{1, 2, 3});
}

TEST_CASE("contributions are measured before they are scaled, and the factor is told") {
  GroupOptions options = audited(6);
  options.weights.assign(6, 100);
  InMemoryGroup group(options);
  for (float& value : group.input(4)) value *= 20;
  group.run();
  for (const Rank owner : {0, 1, 2, 3, 5}) {
    CHECK(check_told(group, owner).size() == 5);
    const wire::MeasuredParts& measured = *group.outcome(owner)->measured;
    REQUIRE(measured.factors.size() == 5);
    const auto place = static_cast<std::size_t>(std::find(measured.members.begin(), measured.members.end(), 4) -
                                                measured.members.begin());
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(measured.factors[i] == (i == place ? group.outcome(owner)->scaled.front().factor : 1.0F));
    }
    CHECK(measured.factors[place] == group.outcome(0)->scaled.front().factor);
    CHECK(measured.factors[place] < 0.5F);
  }
}

TEST_CASE("whoever dies, and whenever, owners tell of those that came whole to the part that they made") {
  InMemoryGroup calm(audited(5));
  calm.run();
  for (std::size_t event = 1; event < calm.events(); event += 5) {
    CAPTURE(event);
    const Rank victim = event % 5;
    GroupOptions options = audited(5);
    options.seed = static_cast<unsigned>(1 + event % 2);
    InMemoryGroup group(options,
                        {{.kind = event % 3 == 0 ? Kind::kill : Kind::kill_dirty, .rank = victim, .event = event}});
    group.run();
    CHECK(wrong(group) == "");
    for (Rank owner = 0; owner < 5; ++owner) {
      if (owner == victim || group.outcome(owner)->verdict != Verdict::averaged) continue;
      const std::vector<Rank> told = check_told(group, owner);
      for (Rank rank = 0; rank < 5; ++rank) {
        CAPTURE(rank);
        const bool expected = rank != owner && whole(group, owner, owner, rank);
        CHECK(std::binary_search(told.begin(), told.end(), rank) == expected);
      }
    }
  }
}

TEST_CASE("of many members, those are told of that the result draws") {
  InMemoryGroup group(audited(40));
  group.run();
  for (Rank owner = 0; owner < 40; ++owner) {
    std::vector<std::size_t> drawn = swarm::measured_members(group.outcome(owner)->result_digest, 40);
    std::erase(drawn, owner);
    CHECK(check_told(group, owner) == drawn);
  }
}

TEST_CASE("a member's own sketches are those of what others decoded") {
  GroupOptions options = audited(4);
  options.codec = "int8";
  options.weights = {3, 1, 0, 2};
  InMemoryGroup group(options);
  group.run();
  const Hash128 seed = sketch_seed_of(77);
  for (Rank rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const bool brings = group.weight(rank) > 0;
    const std::span<const float> input = brings ? std::span<const float>(group.input(rank)) : std::span<const float>();
    const wire::OwnSketches own = own_sketches(group.group(), rank, input, group.output(rank), seed);
    CHECK(own.round == group.group().round);
    CHECK(own.contributed.size() == (brings ? 4 * wire::kShortSketchFloats : 0));
    CHECK(own.whole.size() == (brings ? wire::kSketchFloats : 0));
    // Equal to the bit, so that the coordinator can count who says the same.
    CHECK(own.result == own_sketches(group.group(), 0, {}, group.output(0), seed).result);
    for (Rank owner = 0; brings && owner < 4; ++owner) {
      if (owner == rank) continue;
      const swarm::ShortSketch expected = swarm::shortened(sketch_of(group, owner, rank, seed));
      CHECK(std::equal(expected.begin(), expected.end(),
                       own.contributed.begin() + static_cast<std::ptrdiff_t>(owner * wire::kShortSketchFloats)));
    }
  }
}
