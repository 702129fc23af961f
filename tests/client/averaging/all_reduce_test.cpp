#include "client/averaging/all_reduce.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <cmath>
#include <random>

#include "client/averaging/codec.h"
#include "shared/swarm/plan.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"
#include "tests/support/plain_signer.h"

using namespace starling;
using namespace starling::averaging;
using Bytes = std::vector<std::uint8_t>;
using Verdict = AveragingOutcome::Verdict;

namespace {

// The most that codecs may add to values of magnitude at most 1: one loss on the way to the owner, one on the way back.
double tolerance(const GroupOptions& options) {
  const auto loss = [](const std::string& codec) {
    if (codec == "int4") return 1 / 13.9;
    if (codec == "int8") return 1 / 253.0;
    return codec == "bf16" ? 0x1p-8 : codec == "fp16" ? 0x1p-10 : 0;
  };
  double contributions = loss(options.codec);
  for (const std::string& codec : options.codecs) contributions = std::max(contributions, loss(codec));
  return contributions + loss(options.codec) + 1e-5;
}

bool all_averaged(const InMemoryGroup& group) {
  for (Rank rank = 0; rank < group.size(); ++rank) {
    if (group.outcome(rank) == nullptr || group.outcome(rank)->verdict != Verdict::averaged) return false;
  }
  return true;
}

// Lets engines exchange frames until none has any: without latency, and without copies where none is needed.
void exchange_all(const std::vector<std::unique_ptr<AllReduce>>& engines) {
  OutgoingFrame frame;
  Bytes joined;
  for (bool any = true; any;) {
    any = false;
    for (Rank from = 0; from < engines.size(); ++from) {
      for (Rank to = 0; to < engines.size(); ++to) {
        if (from == to || !engines[from]->next_frame(TimePoint{}, to, frame)) continue;
        any = true;
        const auto header = wire::decode_header(std::span(frame.head).first<wire::kFrameHeaderBytes>());
        joined.assign(frame.head.begin() + wire::kFrameHeaderBytes, frame.head.end());
        joined.insert(joined.end(), frame.payload.begin(), frame.payload.end());
        REQUIRE(engines[to]->on_frame(TimePoint{}, from, *header, joined).ok());
      }
    }
  }
}

constexpr const char* kCodecs[] = {"fp32", "fp16", "bf16", "int8", "int4"};

// Varies everything that may vary without a fault.
GroupOptions random_options(unsigned seed) {
  std::mt19937 random(seed);
  GroupOptions options;
  options.seed = seed;
  options.members = 1 + random() % 9;
  options.vector_floats = 1 + random() % 3000;
  options.segment_floats = 1 + random() % 200;
  options.latency = from_ms(1 + random() % 60);
  options.bytes_per_s = 1e5 * (1 + random() % 100);
  options.codec = kCodecs[random() % std::size(kCodecs)];
  for (std::size_t i = 0; i < options.members; ++i) {
    options.shares.push_back(random() % 4 == 0 ? 0.0 : 1.0 + random() % 10);
    options.weights.push_back(random() % 4 == 0 ? 0 : 1 + random() % 100);
    options.codecs.push_back(random() % 2 == 0 ? "" : kCodecs[random() % std::size(kCodecs)]);
    options.start_after.push_back(from_ms(random() % 400));
  }
  options.shares[0] = 1;
  options.begin_within_ms = 5000;
  return options;
}

}  // namespace

TEST_CASE("every member gets the weighted mean of all, to the last bit the same") {
  for (const std::size_t members : {1, 2, 3, 4, 5, 8, 9, 16}) {
    CAPTURE(members);
    InMemoryGroup group({.members = members, .vector_floats = 5000});
    group.run();
    CHECK(all_averaged(group));
    CHECK(wrong(group) == "");
    CHECK(group.refusals().empty());
    const AveragingOutcome& outcome = *group.outcome(0);
    REQUIRE(outcome.contributors.size() == 1);
    CHECK(outcome.contributors[0].members.count() == members);
    for (Rank rank = 0; rank < members; ++rank) CHECK(outcome.samples[rank] == group.weight(rank));
    CHECK(outcome.weight_total == static_cast<SampleCount>(members * (members + 1) / 2));
    CHECK(outcome.lost.empty());
  }
}

TEST_CASE("any mix of parts, weights, segment sizes, codecs, links and starting times averages") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const GroupOptions options = random_options(seed);
    InMemoryGroup group(options);
    group.run();
    CHECK(all_averaged(group));
    CHECK(wrong(group, tolerance(options)) == "");
    CHECK(group.refusals().empty());
  }
}

TEST_CASE("results that were encoded long before they go out are encoded again, to the same bits") {
  for (const char* codec : {"fp16", "int4"}) {
    CAPTURE(codec);
    const GroupOptions options{.members = 3, .vector_floats = 9000, .segment_floats = 8, .codec = codec};
    InMemoryGroup group(options);
    group.run();
    CHECK(all_averaged(group));
    CHECK(wrong(group, tolerance(options)) == "");
  }
}

TEST_CASE("equal calls give equal results") {
  const auto digest = [] {
    InMemoryGroup group({.members = 5, .seed = 9});
    group.run();
    return std::pair(group.outcome(3)->result_digest, group.events());
  };
  CHECK(digest() == digest());
}

TEST_CASE("each member's contributions travel in the codec that its plan gives it, results in one for all") {
  InMemoryGroup group({.members = 4, .vector_floats = 4000, .codec = "fp16", .codecs = {"", "int8", "fp32", "int8"}});
  const wire::Codec planned[] = {Codec::fp16, Codec::int8, Codec::fp32, Codec::int8};
  std::size_t seen[2] = {};
  group.set_tamper([&](Rank from, Rank, Bytes& bytes) {
    const auto header = wire::decode_header(std::span(bytes).first<wire::kFrameHeaderBytes>());
    REQUIRE(header.ok());
    if (header->type == wire::FrameType::contribution) CHECK((++seen[0], header->codec == planned[from]));
    if (header->type == wire::FrameType::result) CHECK((++seen[1], header->codec == Codec::fp16));
    return true;
  });
  group.run();
  CHECK(seen[0] > 100);
  CHECK(seen[1] > 100);
  CHECK(all_averaged(group));
  CHECK(wrong(group, 1.0 / 253 + 0x1p-11) == "");
  CHECK(wrong(group, 1e-5) != "");
}

TEST_CASE("a plan that members understand differently keeps them apart") {
  InMemoryGroup fp32({.members = 3});
  InMemoryGroup int8({.members = 3, .codecs = {"", "int8", ""}});
  CHECK(swarm::plan_digest(fp32.group()) != swarm::plan_digest(int8.group()));
}

TEST_CASE("fp16 stays within its error bound of the exact mean") {
  InMemoryGroup group({.members = 6, .vector_floats = 4000, .codec = "fp16"});
  group.run();
  CHECK(all_averaged(group));
  // Contributions are within 2^-11 of values of magnitude at most the weight; so is the result, within 2^-11 of at most
  // 1.
  CHECK(wrong(group, std::ldexp(1.0, -11) + std::ldexp(1.0, -11) + std::ldexp(1.0, -22)) == "");
}

TEST_CASE("a member that only listens gets the mean of the others") {
  InMemoryGroup group({.members = 4, .weights = {3, 0, 5, 2}});
  group.run();
  CHECK(all_averaged(group));
  CHECK(wrong(group) == "");
  CHECK(group.outcome(1)->samples[1] == 0);
  CHECK(group.outcome(1)->weight_total == 10);
}

TEST_CASE("when everybody only listens the mean is zero, over nobody") {
  InMemoryGroup group({.members = 3, .weights = {0, 0, 0}});
  group.run();
  CHECK(all_averaged(group));
  CHECK(wrong(group) == "");
  CHECK(group.outcome(0)->weight_total == 0);
}

TEST_CASE("a group of one is done when it starts") {
  InMemoryGroup group({.members = 1, .weights = {4}});
  group.step();
  REQUIRE(group.outcome(0) != nullptr);
  CHECK(group.outcome(0)->verdict == Verdict::averaged);
  CHECK(wrong(group) == "");
  CHECK(group.outcome(0)->bytes_sent == 0);
}

TEST_CASE("members that nobody can dial take part without a link among them") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    InMemoryGroup group({.members = 6, .undialable = {true, false, true, false, true, true}, .seed = seed});
    group.run();
    CHECK(all_averaged(group));
    CHECK(wrong(group) == "");
    CHECK(group.refusals().empty());
  }
}

TEST_CASE("a member that begins late is waited for, and taken in whole") {
  InMemoryGroup group({.members = 4, .start_after = {{}, {}, from_ms(900), {}}});
  group.run();
  CHECK(all_averaged(group));
  CHECK(wrong(group) == "");
  CHECK(group.outcome(0)->samples[2] == group.weight(2));
}

TEST_CASE("who waits for a late member does not blame the others for having no results yet") {
  GroupOptions options;
  options.members = 3;
  options.start_after = {{}, {}, std::chrono::seconds(45)};
  options.begin_within_ms = 60'000;
  InMemoryGroup group(options);
  group.run();
  CHECK(wrong(group) == "");
  for (Rank rank = 0; rank < group.size(); ++rank) CHECK(group.outcome(rank)->lost.empty());
}

TEST_CASE("each link carries every part once, and the results once") {
  const std::int64_t floats = 64 * 1024;
  InMemoryGroup group({.members = 4, .vector_floats = floats, .segment_floats = 1024});
  group.run();
  CHECK(all_averaged(group));
  // Bytes sent: 3/4 of the vector as contributions and 3 times the own quarter as results; headers, begins, pings and
  // done come on top.
  const std::int64_t payload = floats * 4 * 6 / 4;
  for (Rank rank = 0; rank < 4; ++rank) {
    CHECK(group.outcome(rank)->bytes_sent >= payload);
    CHECK(group.outcome(rank)->bytes_sent <= payload + payload / 50);
    CHECK(group.outcome(rank)->bytes_received <= payload + payload / 50);
  }
}

TEST_CASE("all parts progress together: the round takes little more than its bytes need") {
  const std::int64_t floats = 256 * 1024;
  GroupOptions options{
      .members = 5, .vector_floats = floats, .segment_floats = 1024, .latency = from_ms(2), .bytes_per_s = 1e6};
  InMemoryGroup group(options);
  group.run();
  CHECK(all_averaged(group));
  // Each link carries a fifth of the vector each way as contributions and as results.
  const double line_seconds = static_cast<double>(floats) * 4 * 2 / 5 / options.bytes_per_s;
  CHECK(to_seconds(group.elapsed()) < line_seconds * 1.1 + 0.1);
}

TEST_CASE("a slow sender is left out of what it still owes, keeps its place and ends with the same bits") {
  GroupOptions options{.members = 5, .vector_floats = 200000, .segment_floats = 1000, .bytes_per_s = 1e6};
  options.member_slowdown = {1, 1, 100, 1, 1};
  options.shares = {1, 1, 0, 1, 1};
  options.engine.straggler_floor = from_ms(500);
  InMemoryGroup group(options);
  group.run();
  CHECK(all_averaged(group));
  CHECK(wrong(group) == "");
  const AveragingOutcome& outcome = *group.outcome(2);
  CHECK(outcome.lost.empty());
  CHECK(outcome.samples[2] < group.weight(2));
  CHECK(outcome.samples[0] == group.weight(0));
}

TEST_CASE("nobody waits for what a deferred member takes; it contributes in full and ends with the same bits") {
  GroupOptions options;
  options.vector_floats = 40000;
  options.deferred = {false, false, true, false};
  options.member_slowdown = {1, 1, 40, 1};
  options.bytes_per_s = 1e6;
  InMemoryGroup group(options);
  const auto others_done = [&] {
    return group.outcome(0) != nullptr && group.outcome(1) != nullptr && group.outcome(3) != nullptr;
  };
  while (!others_done() && group.step()) {
  }
  REQUIRE(others_done());
  CHECK(group.outcome(2) == nullptr);
  const Duration others_took = group.elapsed();
  group.run();
  CHECK(wrong(group) == "");
  for (Rank rank = 0; rank < group.size(); ++rank) {
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(group.outcome(rank)->samples[2] == group.weight(2));
    CHECK(group.outcome(rank)->lost.empty());
  }
  CHECK(group.elapsed() > others_took);
}

TEST_CASE("whoever has given a deferred member all it had may fall silent, leave, and be asked again") {
  GroupOptions options;
  options.vector_floats = 40000;
  options.deferred = {false, false, true, false};
  options.codecs = {"fp32", "fp32", "int4", "fp32"};  // so that the others are soon done
  options.shares = {8, 1, 0, 1};  // the first one's results take 5 s to come, the others' half a second
  options.member_slowdown = {1, 1, 40, 1};
  options.bytes_per_s = 1e6;
  constexpr double kCoarse = 0.03;  // half a step of int4, times this member's part of all weights
  constexpr Duration kLater = std::chrono::milliseconds(4000);

  InMemoryGroup silent(options);
  silent.run();
  REQUIRE(silent.elapsed() > kLater);
  CHECK(wrong(silent, kCoarse) == "");
  CHECK(silent.outcome(2)->verdict == Verdict::averaged);
  CHECK(silent.outcome(2)->lost.empty());
  CHECK(silent.outcome(2)->faults.empty());

  InMemoryGroup left(options, {{.kind = Fault::Kind::break_link, .rank = 1, .other = 2, .at = kLater},
                               {.kind = Fault::Kind::break_link, .rank = 3, .other = 2, .at = kLater}});
  left.run();
  CHECK(wrong(left, kCoarse) == "");
  CHECK(left.outcome(2)->verdict == Verdict::averaged);
  CHECK(left.outcome(2)->lost.empty());

  options.latency = from_ms(150);  // so that answers take longer than a look at the clock
  options.segment_floats = 4000;
  InMemoryGroup asked(options, {{.kind = Fault::Kind::kill_dirty, .rank = 0, .at = from_ms(5400)}});
  asked.run();
  CHECK(wrong(asked, kCoarse) == "");
  CHECK(asked.outcome(2)->verdict == Verdict::averaged);
  REQUIRE(asked.outcome(2)->lost.size() == 1);
  CHECK(asked.outcome(2)->lost[0].rank == 0);
}

TEST_CASE("a large group averages") {
  GroupOptions options{.members = 96, .vector_floats = 9600, .segment_floats = 32};
  InMemoryGroup group(options);
  group.run();
  CHECK(all_averaged(group));
  CHECK(wrong(group) == "");
}

TEST_CASE("beside the vectors, a round keeps far less than a vector in memory") {
  // Frames go from engine to engine without a copy, so memory allocated from here on is the engines' own.
  for (const char* codec : {"fp32", "fp16"}) {
    CAPTURE(codec);
    const std::size_t members = 4;
    const std::int64_t floats = 1 << 22;
    GroupOptions options{.members = members, .vector_floats = floats, .segment_floats = 1 << 12, .codec = codec};
    const InMemoryGroup vectors(options);
    wire::GroupInfo group = vectors.group();
    std::vector<float> input(floats, 1.0F);
    std::vector<std::vector<float>> outputs(members, std::vector<float>(floats));
    const std::size_t before = mallinfo2().uordblks;
    std::vector<std::unique_ptr<AllReduce>> engines;
    for (Rank rank = 0; rank < members; ++rank) {
      AllReduceOptions engine;
      engine.signer = testing::plain_signer(group.members[rank].endpoint.peer);
      engines.push_back(std::make_unique<AllReduce>(group, rank, RoundVectors{1, input, outputs[rank]}, engine));
      engines[rank]->start(TimePoint{});
    }
    exchange_all(engines);
    for (const auto& engine : engines) REQUIRE(engine->outcome() != nullptr);
    const double extra = static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(members);
    // fp16 keeps 128 segments of the own part in encoded form (a sixteenth of the vector here), and one for each peer.
    CHECK(extra < static_cast<double>(floats) * sizeof(float) * (std::string(codec) == "fp32" ? 0.01 : 0.08));
  }
}

TEST_CASE("values that cannot be added up stop their own member first") {
  InMemoryGroup group({.members = 3});
  group.input(1)[400] = NAN;  // in its own part
  group.run();
  REQUIRE(group.outcome(1) != nullptr);
  CHECK(group.outcome(1)->verdict == Verdict::expelled);
  CHECK(group.outcome(1)->unsound);
  CHECK(group.outcome(0)->verdict == Verdict::averaged);
  CHECK_FALSE(group.outcome(0)->unsound);
  CHECK(wrong(group) == "");
}
