// Members that the others go on without: they leave with the others' result, whenever they come.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"

using namespace starling;
using namespace starling::averaging;
using Verdict = AveragingOutcome::Verdict;
using Kind = Fault::Kind;

namespace {

// A round of about two seconds whose last member misses the begin.
GroupOptions long_round(Duration comes) {
  GroupOptions options;
  options.members = 5;
  options.vector_floats = 50'000;
  options.segment_floats = 1'000;
  options.bytes_per_s = 100e3;
  options.begin_within_ms = 500;
  options.start_after = {{}, {}, {}, {}, comes};
  return options;
}

void check_tagged_along(InMemoryGroup& group, Rank late, double tolerance = 1e-5) {
  for (Rank rank = 0; rank < group.size(); ++rank) {
    CAPTURE(rank);
    if (!group.alive(rank)) continue;
    REQUIRE(group.outcome(rank) != nullptr);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(untruth(group, rank, tolerance) == "");
  }
  CHECK(disagreement(group) == "");
  CHECK(group.outcome(0)->samples[late] == 0);
  CHECK(group.refusals().empty());
}

}  // namespace

TEST_CASE("who begins when the others have gone on leaves with their result, and keeps nobody waiting") {
  InMemoryGroup without(long_round(std::chrono::hours(1)));
  without.run(std::chrono::seconds(60));
  const Duration undisturbed = without.outcome(0)->elapsed;
  for (const int comes_ms : {600, 800, 1200, 2000, 3000, 4000, 10'000}) {
    CAPTURE(comes_ms);
    InMemoryGroup group(long_round(from_ms(comes_ms)));
    group.run();
    check_tagged_along(group, 4);
    for (Rank rank = 0; rank < 4; ++rank) CHECK(group.outcome(rank)->elapsed <= undisturbed + from_ms(700));
  }
}

TEST_CASE("a latecomer's result is that of lossy codecs, to the bit") {
  for (const char* codec : {"fp16", "int8"}) {
    CAPTURE(codec);
    GroupOptions options = long_round(from_ms(900));
    options.codec = codec;
    InMemoryGroup group(options);
    group.run();
    check_tagged_along(group, 4, 0.05);
  }
}

TEST_CASE("a latecomer that nobody can dial leaves with the result as well") {
  GroupOptions options = long_round(from_ms(900));
  options.undialable = {false, false, false, true, true};
  InMemoryGroup group(options);
  group.run();
  check_tagged_along(group, 4);
}

TEST_CASE("members that die while a latecomer is served do not cost it the result, where anybody has it") {
  std::size_t kept = 0;
  for (int dies_ms = 700; dies_ms < 4000; dies_ms += 100) {
    CAPTURE(dies_ms);
    InMemoryGroup group(long_round(from_ms(900)), {{.kind = Kind::kill, .rank = 2, .at = from_ms(dies_ms)}});
    group.run();
    for (const Rank rank : {0, 1, 3}) CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    REQUIRE(group.outcome(4) != nullptr);
    const bool averaged = group.outcome(4)->verdict == Verdict::averaged;
    if (averaged) CHECK(untruth(group, 4) == "");
    if (averaged) CHECK(group.outcome(4)->result_digest == group.outcome(0)->result_digest);
    if (averaged) ++kept;
  }
  CHECK(kept >= 30);  // there are 33 cases
}

TEST_CASE("a latecomer gives up on members that are alive, but send it nothing of the round") {
  InMemoryGroup group(long_round(from_ms(900)));
  group.set_tamper([](Rank, Rank to, std::vector<std::uint8_t>& frame) {
    const auto header = wire::decode_header(std::span(frame).first<wire::kFrameHeaderBytes>());
    return to != 4 || header->type == wire::FrameType::begin || header->type == wire::FrameType::inventory ||
           wire::is_sign_of_life(header->type);
  });
  // The members' links carry the next rounds.
  std::vector<std::uint8_t> ping(wire::kFrameHeaderBytes);
  wire::encode_header({}, std::span(ping).first<wire::kFrameHeaderBytes>());
  Duration pinged{};
  while (group.outcome(4) == nullptr && group.elapsed() < std::chrono::seconds(60)) {
    REQUIRE(group.step());
    if (group.elapsed() < pinged + from_ms(200) || group.elapsed() < from_ms(1000)) continue;
    pinged = group.elapsed();
    for (Rank rank = 0; rank < 4; ++rank) group.inject(rank, 4, ping);
  }
  REQUIRE(group.outcome(4) != nullptr);
  CHECK(group.outcome(4)->verdict == Verdict::expelled);
  CHECK(group.outcome(4)->elapsed < std::chrono::seconds(15));
}

TEST_CASE("nobody waits for members that were not there when the plan was made") {
  for (const int comes_ms : {0, 5, 400, 3000, 3'600'000}) {
    CAPTURE(comes_ms);
    GroupOptions options = long_round(from_ms(comes_ms));
    options.late = {false, false, false, true, true};
    options.start_after[3] = from_ms(comes_ms);
    InMemoryGroup group(options);
    group.run(std::chrono::seconds(60));
    const bool comes = comes_ms < 60'000;
    for (Rank rank = 0; rank < (comes ? 5U : 3U); ++rank) {
      REQUIRE(group.outcome(rank) != nullptr);
      CHECK(group.outcome(rank)->verdict == Verdict::averaged);
      CHECK(untruth(group, rank) == "");
      CHECK(group.outcome(rank)->faults.empty());
      if (rank < 3) CHECK(group.outcome(rank)->elapsed < std::chrono::seconds(4));
    }
    CHECK(disagreement(group) == "");
    // If it comes in time, its contribution counts like anybody's.
    CHECK(group.outcome(0)->samples[4] == (comes_ms <= 5 ? group.weight(4) : 0));
  }
}

TEST_CASE("those who were not there when the plan was made have no say in what counts") {
  GroupOptions options = long_round({});
  options.late = {false, false, true, true, true};
  // One of the two members with a vote dies: the three others have none, so the remaining one is not most of the group.
  InMemoryGroup group(options, {{.kind = Kind::kill, .rank = 1, .at = from_ms(300)}});
  group.run();
  for (const Rank rank : {0, 2, 3, 4}) {
    REQUIRE(group.outcome(rank) != nullptr);
    CHECK(group.outcome(rank)->verdict != Verdict::averaged);
  }
  // A single member with a vote decides alone.
  options.late = {false, true, true, true, true};
  InMemoryGroup alone(options, {{.kind = Kind::kill, .rank = 1, .at = from_ms(300)}});
  alone.run();
  CHECK(alone.outcome(0)->verdict == Verdict::averaged);
}
