#include "client/averaging/late_member.h"

#include <doctest/doctest.h>

#include "tests/client/averaging/round_parts.h"

using namespace starling;
using namespace starling::averaging;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kStart{};
constexpr Rank kSelf = 2;

// Three members whose last one the others go on without. A part is one segment.
struct LateRound : RoundParts {
  LateRound() : RoundParts(plain_group(3, 8), kSelf) {
    begin(kStart);
    late.begin(kStart);
  }

  // A member's frame at this time; an empty string or the error's message.
  std::string hear(TimePoint now, Rank from, wire::FrameType type, const std::vector<std::uint8_t>& payload,
                   SegmentIndex segment = 0) {
    wire::FrameHeader header;
    header.type = type;
    header.segment = segment;
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    const Status status = late.receive(now, from, header, payload);
    return status.ok() ? "" : status.error().message;
  }
  // The result of a segment in which all values are `value`, made of the first two members.
  std::string hear_result(TimePoint now, Rank from, SegmentIndex segment, float value) {
    const std::vector<float> floats(8, value);
    std::vector<std::uint8_t> payload{0b011};
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(floats.data());
    payload.insert(payload.end(), bytes, bytes + 4 * floats.size());
    return hear(now, from, wire::FrameType::result, payload, segment);
  }
  std::string hear_done(TimePoint now, Rank from, const Hash128& digest) {
    wire::Done done{digest};
    done.weights = {3, 4, 0};
    done.draws = {30, 40, 0};
    return hear(now, from, wire::FrameType::done, wire::encode(done));
  }
  std::string hear_inventory(TimePoint now, Rank from, const std::vector<Rank>& lost) {
    const wire::LostSet said = lost_set(from, lost);
    const std::vector<SampleCount> weights(lost.size(), 1);
    return hear(now, from, wire::FrameType::inventory,
                wire::encode(wire::Inventory{said.lost, table.held_bits(), weights, {}, said.signature}));
  }
  // The next item for a member that is neither begin nor ping.
  OutboxItem next(TimePoint now, Rank to) {
    OutboxItem item = outbox.next(now, to);
    while (item.kind == OutboxItem::Kind::begin || item.kind == OutboxItem::Kind::ping) item = outbox.next(now, to);
    return item;
  }
};

}  // namespace

TEST_CASE("a late member asks everybody for the result and contributes nothing") {
  LateRound round;
  for (const Rank rank : {0, 1}) {
    CHECK(round.next(kStart, rank).kind == OutboxItem::Kind::listen);
    CHECK(round.next(kStart, rank).kind == OutboxItem::Kind::none);
  }
}

TEST_CASE("a late member has the result when all segments came and most of those who can help agree") {
  LateRound round;
  for (SegmentIndex segment = 0; segment < 3; ++segment) {
    CHECK(round.hear_result(kStart + 10ms, segment % 2, segment, 1.0F + static_cast<float>(segment)) == "");
  }
  REQUIRE(round.progress.result());
  CHECK_FALSE(round.late.ending());
  CHECK(round.hear_done(kStart + 20ms, 0, *round.progress.result()) == "");
  CHECK_FALSE(round.late.ending());  // the other one may still say something else
  CHECK(round.hear_done(kStart + 30ms, 1, *round.progress.result()) == "");
  REQUIRE(round.late.ending());
  CHECK(round.late.ending()->has_result);
  CHECK(round.output[8] == 2.0F);
  CHECK(round.roster.weight(1) == 4);
  CHECK(round.roster.terms(kSelf).weight == 0);  // the others know best what is in the result
}

TEST_CASE("a late member gives up when somebody who is done holds other bits") {
  LateRound round;
  for (SegmentIndex segment = 0; segment < 3; ++segment) round.hear_result(kStart, 0, segment, 1.0F);
  CHECK(round.hear_done(kStart, 0, hash128(std::vector<std::uint8_t>{1})) == "");
  REQUIRE(round.late.ending());
  CHECK_FALSE(round.late.ending()->has_result);
  CHECK(round.late.ending()->why == "too few say that they hold what came");
}

TEST_CASE("a done without weights is from before, and agrees with nothing") {
  LateRound round;
  for (SegmentIndex segment = 0; segment < 3; ++segment) round.hear_result(kStart, 0, segment, 1.0F);
  CHECK(round.hear(kStart, 0, wire::FrameType::done, wire::encode(wire::Done{hash128(std::vector<std::uint8_t>{1})})) ==
        "");
  CHECK_FALSE(round.late.ending());
  CHECK_FALSE(round.progress.done(0));
}

TEST_CASE("a late member gives up when nobody is heard any more, later if this process stood still") {
  for (const Duration slept : {Duration::zero(), Duration(3s)}) {
    LateRound round;
    round.late.on_overslept(slept);
    round.late.check(kStart + slept + 3999ms);
    CHECK_FALSE(round.late.ending());
    round.late.check(kStart + slept + 4s);
    REQUIRE(round.late.ending());
    CHECK(round.late.ending()->why == "nobody sends the result");
  }
}

TEST_CASE("signs of life alone do not keep a late member waiting for ever") {
  LateRound round;
  TimePoint now = kStart;
  for (; !round.late.ending() && now < kStart + 60s; now += 500ms) {
    round.hear(now, 0, wire::FrameType::ping, {});
    round.late.check(now);
  }
  REQUIRE(round.late.ending());
  CHECK(now == kStart + 10s + 500ms);
}

TEST_CASE("a late member gives up when those who go on are not most of the group, and not on one word") {
  for (const Duration heard : {Duration(500ms), Duration(1500ms)}) {  // then the second one is silent
    LateRound round;
    CHECK(round.hear_inventory(kStart + heard, 0, {1, kSelf}) == "");
    REQUIRE(round.late.ending().has_value() == (heard > 1s));
    if (round.late.ending()) CHECK(round.late.ending()->why == "those who go on are not most of the group");
  }
  LateRound round;
  wire::Inventory unsigned_word{round.lost_set(0, {1}).lost, round.table.held_bits(), {1}};
  CHECK(round.hear(kStart, 0, wire::FrameType::inventory, wire::encode(unsigned_word)) != "");
}

TEST_CASE("a member that is done is asked, once, for the part of a member that is not heard") {
  LateRound round;
  round.next(kStart, 0);                  // listen
  const TimePoint now = kStart + 1500ms;  // the second one is silent
  CHECK(round.hear_done(now, 0, {}) == "");
  const OutboxItem asks = round.next(now, 0);
  CHECK(asks.kind == OutboxItem::Kind::want);
  CHECK(asks.segment == 1);
  round.late.check(now);
  for (OutboxItem item = round.next(now, 0); item.kind != OutboxItem::Kind::none; item = round.next(now, 0)) {
    CHECK(item.segment != 1);
  }
}

TEST_CASE("a result of the wrong size, of no segment or in another codec breaks the protocol") {
  LateRound round;
  CHECK(round.hear(kStart, 0, wire::FrameType::result, {0b011, 0, 0}, 0) == "a result's size is wrong");
  CHECK(round.hear_result(kStart, 0, 9, 1.0F) == "there is no segment 9");
  CHECK_FALSE(round.late.ending());
}
