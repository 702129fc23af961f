// One engine, and frames from other members: frames that they should not send, and frames that they may.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "client/averaging/all_reduce.h"
#include "client/averaging/codec.h"
#include "client/averaging/part_digests.h"
#include "client/averaging/segment_table.h"
#include "shared/swarm/plan.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"
#include "tests/support/plain_signer.h"

using namespace starling;
using namespace starling::averaging;
using wire::FrameType;
using Verdict = AveragingOutcome::Verdict;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr Rank kSelf = 1;
constexpr std::int64_t kFloats = 48;  // four members, parts of 12, segments of 8 and 4

wire::GroupInfo plan() {
  wire::GroupInfo group;
  group.id.bytes[0] = 9;
  group.run_id = "test";
  group.vector_floats = kFloats;
  group.segment_floats = 8;
  for (Rank rank = 0; rank < 4; ++rank) {
    wire::GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(rank);
    member.endpoint.host = "192.0.2.1";
    member.endpoint.port = 4000;
    member.part_floats = kFloats / 4;
    group.members.push_back(member);
  }
  return group;
}

AllReduceOptions signed_by(const wire::GroupInfo& group, Rank rank) {
  AllReduceOptions options;
  options.signer = testing::plain_signer(group.members[rank].endpoint.peer);
  return options;
}

// Plays all other members to one engine of rank 1, whose weight is 2 and whose values are all 2.
struct Stage {
  wire::GroupInfo group;
  std::vector<float> input = std::vector<float>(kFloats, 2.0F);
  std::vector<float> output = std::vector<float>(kFloats, 0.0F);
  AllReduce engine{group, kSelf, {2, input, output}, signed_by(group, kSelf)};
  SegmentTable told{group};  // results that the others have sent
  TimePoint now{};

  Stage() : Stage(plan()) {}
  explicit Stage(wire::GroupInfo planned) : group(std::move(planned)) { engine.start(now); }

  Status say(Rank from, FrameType type, std::uint32_t segment, const Bytes& payload, Codec codec = Codec::fp32) {
    const wire::FrameHeader header{type, static_cast<std::uint32_t>(payload.size()), group.id, segment, codec};
    const Status status = engine.on_frame(now, from, header, payload);
    if (status.ok() && type == FrameType::result) seal_when_finished(from, segment, payload);
    return status;
  }
  // Owners seal their parts when they have sent all of them.
  void seal_when_finished(Rank from, std::uint32_t segment, const Bytes& result) {
    if (told.held(segment)) return;
    const auto all = std::span<const std::uint8_t>(result);
    told.hold(segment, all.first(1), hash128(all.subspan(1)));
    const Rank owner = told[segment].owner;
    if (owner != from || told.missing(owner) > 0) return;
    wire::Seal seal{
        group.id, swarm::plan_digest(group), static_cast<std::uint32_t>(owner), told.part_digest(owner), {}};
    seal.signature = signed_by(group, owner).signer->sign(wire::signed_text(seal));
    CHECK(say(owner, FrameType::seal, 0, wire::encode(seal)).ok());
  }
  Bytes begin(Rank rank, SampleCount weight = 1) const {
    wire::Begin begin{static_cast<std::uint32_t>(rank), kFloats, weight, swarm::plan_digest(group)};
    if (weight > 0) begin.norms.assign(4, std::sqrt(12.0F));  // parts of ones
    if (weight > 0) begin.part_digests.assign(4, digest_of_ones());
    return signed_by_its_member(begin);
  }
  Hash128 digest_of_ones() const {
    std::vector<Hash128> segments;
    for (const std::size_t floats : {8, 4}) segments.push_back(hash128(ones(floats)));
    return part_digest(segments);
  }
  Bytes ones(std::size_t floats) const {
    const Codec codec = codec_from_name(group.codec).value();
    Bytes bytes(wire::encoded_bytes(codec, floats));
    encode(codec, std::vector<float>(floats, 1.0F), bytes);
    return bytes;
  }
  Bytes signed_by_its_member(wire::Begin begin) const {
    begin.signature = signed_by(group, begin.rank).signer->sign(wire::signed_text(begin));
    return wire::encode(begin);
  }
  // A member's inventory that holds nothing.
  Bytes inventory(Rank from, const wire::RankSet& lost) const {
    wire::LostSet said{static_cast<std::uint32_t>(from), swarm::plan_digest(group), lost};
    said.signature = signed_by(group, from).signer->sign(wire::signed_text(said));
    return wire::encode(wire::Inventory{lost, {0}, std::vector<SampleCount>(lost.count(), 1), {}, said.signature});
  }
  void all_begin() {
    for (const Rank rank : {0, 2, 3}) REQUIRE(say(rank, FrameType::begin, 0, begin(rank)).ok());
  }
  // All have begun; then the last one is gone, for this engine and for member 0.
  void lose_last_member() {
    all_begin();
    engine.on_link_lost(now, 3, "gone");
    wire::RankSet lost(4);
    lost.set(3);
    REQUIRE(say(0, FrameType::inventory, 0, inventory(0, lost)).ok());
  }
  std::vector<FrameType> said_to(Rank to) {
    std::vector<FrameType> said;
    OutgoingFrame frame;
    while (engine.next_frame(now, to, frame)) said.push_back(static_cast<FrameType>(frame.head[0]));
    return said;
  }
  // The lost set that this engine sends to `to`; an empty set when it mentions none.
  wire::RankSet lost_as_told(Rank to) {
    wire::RankSet lost(4);
    OutgoingFrame frame;
    while (engine.next_frame(now, to, frame)) {
      const auto header = wire::decode_header(std::span(frame.head).first<wire::kFrameHeaderBytes>());
      if (header->type != FrameType::inventory) continue;
      lost = wire::decode_inventory(std::span(frame.head).subspan(wire::kFrameHeaderBytes), 4, 8)->lost;
    }
    return lost;
  }
  bool has_lost(Rank rank, Rank via = 0) { return lost_as_told(via).test(rank); }
};

Bytes floats(std::initializer_list<float> values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

Bytes result(std::uint8_t members, const Bytes& values) {
  Bytes bytes(1 + values.size(), members);
  std::copy(values.begin(), values.end(), bytes.begin() + 1);
  return bytes;
}

const Bytes kEight = floats({1, 1, 1, 1, 1, 1, 1, 1});
const Bytes kFour = floats({1, 1, 1, 1});

}  // namespace

TEST_CASE("a frame that breaks the protocol is refused and costs its sender the round") {
  struct Case {
    std::string what;
    FrameType type;
    std::uint32_t segment;
    Bytes payload;
    Codec codec = Codec::fp32;
  };
  Bytes poisoned = kEight;
  const float nan = NAN;
  std::memcpy(poisoned.data() + 12, &nan, 4);
  wire::RankSet itself(4);
  itself.set(2);
  wire::RankSet fifth(5);
  fifth.set(4);
  const Bytes fifth_lost = wire::encode(wire::Inventory{fifth, {0}, {1}});
  const Stage prototype;
  const Case cases[] = {
      {"a segment that does not exist", FrameType::contribution, 8, kEight},
      {"a segment number far out", FrameType::result, 0xffffffff, result(15, kEight)},
      {"a contribution of the wrong size", FrameType::contribution, 2, kFour},
      {"an empty contribution", FrameType::contribution, 2, {}},
      {"a contribution that is not finite", FrameType::contribution, 2, poisoned},
      {"an absurdly large contribution", FrameType::contribution, 3, floats({0x1p120F, 0, 0, 0})},
      {"a contribution in another codec", FrameType::contribution, 2, Bytes(2 + 8), Codec::int8},
      {"a result in another codec", FrameType::result, 4, result(15, kEight), Codec::fp16},
      {"a result of the wrong size", FrameType::result, 4, result(15, kFour)},
      {"a result that names a fifth member", FrameType::result, 4, result(31, kEight)},
      {"the result of another member's segment", FrameType::result, 0, result(15, kEight)},
      {"a result of what is summed up here", FrameType::result, 2, result(15, kEight)},
      {"an inventory of another shape", FrameType::inventory, 0,
       wire::encode(wire::Inventory{wire::RankSet(4), {0, 0}, {}})},
      {"an inventory that is not CBOR", FrameType::inventory, 0, {1, 2, 3}},
      {"a member that believes itself lost", FrameType::inventory, 0, wire::encode(wire::Inventory{itself, {0}, {1}})},
      {"a done that is cut short", FrameType::done, 0, {0xa1}},
      {"a second begin with another weight", FrameType::begin, 0, prototype.begin(2, 7)},
      {"a weight beyond all samples there are", FrameType::begin, 0, prototype.begin(2, wire::kWeightMax + 1)},
      {"a want of a segment that does not exist", FrameType::want, 8, {}},
      {"an inventory of a fifth member's loss", FrameType::inventory, 0, fifth_lost},
      {"an inventory that lists a ninth segment", FrameType::inventory, 0,
       wire::encode(wire::Inventory{wire::RankSet(4), {0, 1}, {}})},
      {"a begin of the member that hears it", FrameType::begin, 0, prototype.begin(1)},
      {"a begin for a member that does not exist", FrameType::begin, 0, prototype.begin(77)},
      {"a hello in the middle of a round", FrameType::hello, 0, {}},
      {"a piece of a state", FrameType::state_chunk, 0, kEight},
      {"a frame type that does not exist", static_cast<FrameType>(99), 0, {}},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.what);
    Stage stage;
    stage.all_begin();
    const std::vector<float> before = stage.output;
    const Status status = stage.say(2, bad.type, bad.segment, bad.payload, bad.codec);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == ErrorCode::corrupt);
    CHECK_FALSE(status.error().message.empty());
    CHECK(stage.has_lost(2));
    CHECK(stage.output == before);
    CHECK(stage.say(2, FrameType::contribution, 2, kEight).ok());  // late frames of a lost member change nothing
    CHECK(stage.output == before);
  }
}

TEST_CASE("nothing of a result that is not finite gets into the sum that takes its place") {
  Stage stage;
  stage.all_begin();
  const Status refused = stage.say(2, FrameType::result, 4, result(15, floats({1, 1, NAN, 1, 1, 1, 1, 1})));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::corrupt);
  CHECK(stage.has_lost(2));
  wire::RankSet lost(4);
  lost.set(2);
  for (const Rank rank : {0, 3}) {
    REQUIRE(stage.say(rank, FrameType::inventory, 0, stage.inventory(rank, lost)).ok());
  }
  // Segment 4 of the lost part is this member's now.
  for (const Rank rank : {0, 3}) REQUIRE(stage.say(rank, FrameType::contribution, 4, kEight).ok());
  const auto segment = stage.output.begin() + 24;
  CHECK(std::vector<float>(segment, segment + 8) == std::vector<float>(8, 1.0F));
}

TEST_CASE("contributions go out before results, but where the line is so fast that only the cache counts") {
  for (const bool swift : {false, true}) {
    CAPTURE(swift);
    Stage stage;
    stage.all_begin();
    for (const Rank rank : {0, 2, 3}) {
      REQUIRE(stage.say(rank, FrameType::contribution, 2, kEight).ok());
      REQUIRE(stage.say(rank, FrameType::contribution, 3, kFour).ok());
    }
    stage.now += swift ? from_ms(0) : from_ms(100);
    const std::vector<FrameType> contributions(2, FrameType::contribution);
    const std::vector<FrameType> results(2, FrameType::result);
    std::vector<FrameType> expected{FrameType::begin};
    for (const auto& part : swift ? std::array{results, contributions} : std::array{contributions, results}) {
      expected.insert(expected.end(), part.begin(), part.end());
    }
    expected.push_back(FrameType::seal);
    CHECK(stage.said_to(0) == expected);
  }
}

TEST_CASE("what is on its way stays as it is while more is taken for the same member, and others") {
  wire::GroupInfo group = plan();
  group.codec = "fp16";
  Stage stage(group);
  for (std::size_t k = 0; k < stage.input.size(); ++k) stage.input[k] = static_cast<float>(k);
  stage.all_begin();
  for (const Rank rank : {0, 2, 3}) {
    for (const std::uint32_t segment : {2, 3}) {
      const Bytes ones = stage.ones(segment == 2 ? 8 : 4);
      REQUIRE(stage.say(rank, FrameType::contribution, segment, ones, Codec::fp16).ok());
    }
  }
  std::vector<OutgoingFrame> taken;
  std::vector<Bytes> copies;
  for (const Rank to : {0, 2, 3}) {
    for (OutgoingFrame frame; stage.engine.next_frame(stage.now, to, frame);) {
      taken.push_back(frame);
      copies.emplace_back(frame.payload.begin(), frame.payload.end());
    }
  }
  CHECK(taken.size() == 3 * 6);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    CHECK(Bytes(taken[i].payload.begin(), taken[i].payload.end()) == copies[i]);
  }
}

TEST_CASE("a begin that does not fit is refused") {
  const wire::GroupInfo group = plan();
  const Hash128 digest = swarm::plan_digest(group);
  Hash128 other = digest;
  other.bytes[3] ^= 1;
  const wire::Begin bad[] = {
      {2, kFloats + 1, 1, digest}, {2, 0, 1, digest}, {2, kFloats, 1, other}, {0, kFloats, 1, digest}};
  for (const wire::Begin& begin : bad) {
    Stage stage;
    REQUIRE(stage.say(0, FrameType::begin, 0, stage.begin(0)).ok());
    CHECK_FALSE(stage.say(2, FrameType::begin, 0, stage.signed_by_its_member(begin)).ok());
    CHECK(stage.has_lost(2));
  }
}

TEST_CASE("a begin that its member has not signed for this plan is refused by name") {
  const auto refusal = [](auto spoil) {
    Stage stage;
    wire::Begin begin = *wire::decode_begin(stage.begin(2));
    spoil(stage, begin);
    const Status begun = stage.say(2, FrameType::begin, 0, wire::encode(begin));
    return begun.ok() ? std::string() : begun.error().message;
  };
  using Fields = wire::Begin;
  CHECK(refusal([](const Stage&, Fields&) {}).empty());
  CHECK(refusal([](const Stage&, Fields& begin) { begin.signature = {}; }) == "a begin is refused: it is not signed");
  CHECK(refusal([](const Stage&, Fields& begin) { begin.weight = 3; }) == "a begin is refused: its signature is wrong");
  CHECK(refusal([](const Stage&, Fields& begin) { begin.draw = 3; }) == "a begin is refused: its signature is wrong");
  CHECK(refusal([](const Stage&, Fields& begin) { begin.norms[1] = 0; }) ==
        "a begin is refused: its signature is wrong");
  CHECK(refusal([](const Stage&, Fields& begin) { begin.part_digests[3] = {}; }) ==
        "a begin is refused: its signature is wrong");
  CHECK(refusal([](const Stage&, Fields& begin) { begin.note = {1}; }) == "a begin is refused: its signature is wrong");
  const auto by_another = [](const Stage& stage, Fields& begin) {
    begin.signature = signed_by(stage.group, 3).signer->sign(wire::signed_text(begin));
  };
  CHECK(refusal(by_another) == "a begin is refused: another key signed it");
  const auto replayed = [](const Stage&, Fields& begin) {
    wire::GroupInfo before = plan();
    before.round = 1;
    begin = *wire::decode_begin(Stage(before).begin(2));
  };
  CHECK(refusal(replayed) == "it works on another plan");
}

TEST_CASE("a begin with samples says the digest of every part, one without samples of none") {
  for (const std::size_t digests : {0, 3, 4, 5}) {
    CAPTURE(digests);
    Stage stage;
    wire::Begin begin = *wire::decode_begin(stage.begin(2));
    begin.part_digests.resize(digests);
    const Status begun = stage.say(2, FrameType::begin, 0, stage.signed_by_its_member(begin));
    CHECK(begun.ok() == (digests == 4));
    if (digests == 3) CHECK(begun.error().message == "it told the digests of 3 parts where there are 4");
  }
  Stage stage;
  wire::Begin listener = *wire::decode_begin(stage.begin(2, 0));
  listener.part_digests.resize(4);
  CHECK_FALSE(stage.say(2, FrameType::begin, 0, stage.signed_by_its_member(listener)).ok());
}

TEST_CASE("who contributes other values than it began with is lost with the last of them") {
  const Bytes halves = floats({0.5F, 0.5F, 0.5F, 0.5F});
  for (const bool waits : {false, true}) {
    CAPTURE(waits);  // contributions are kept back until the last member has begun and the bound is known
    Stage stage;
    if (waits) {
      for (const Rank rank : {0, 2}) REQUIRE(stage.say(rank, FrameType::begin, 0, stage.begin(rank)).ok());
    } else {
      stage.all_begin();
    }
    CHECK(stage.say(2, FrameType::contribution, 3, halves).ok());
    CHECK(stage.say(2, FrameType::contribution, 3, halves).ok());  // sent twice
    const Status refused = stage.say(2, FrameType::contribution, 2, kEight);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message == "it contributes other values than it began with");
    CHECK(stage.has_lost(2));
    CHECK(stage.say(0, FrameType::contribution, 2, kEight).ok());
    CHECK(stage.say(0, FrameType::contribution, 3, kFour).ok());
  }
}

TEST_CASE("nobody changes the begin that it passes on") {
  wire::GroupInfo group = plan();
  for (const Rank rank : {Rank{kSelf}, Rank{3}}) {
    group.members[rank].endpoint = {group.members[rank].endpoint.peer, "", 0};
    group.members[0].part_floats += std::exchange(group.members[rank].part_floats, 0);
  }
  Stage honest(group);
  REQUIRE(honest.say(0, FrameType::begin, 0, honest.begin(0)).ok());
  CHECK(honest.say(0, FrameType::begin, 0, honest.begin(3)).ok());
  Stage changed(group);
  REQUIRE(changed.say(0, FrameType::begin, 0, changed.begin(0)).ok());
  wire::Begin begin = *wire::decode_begin(changed.begin(3));
  begin.weight = 2;
  CHECK_FALSE(changed.say(0, FrameType::begin, 0, wire::encode(begin)).ok());
}

TEST_CASE("a member contributes no more than its role and its begin say") {
  Stage listener;
  REQUIRE(listener.say(2, FrameType::begin, 0, listener.begin(2, 0)).ok());
  CHECK_FALSE(listener.say(2, FrameType::contribution, 2, kEight).ok());
  CHECK(listener.has_lost(2) == false);  // member 0 has not begun, so there is nobody to tell
  REQUIRE(listener.say(0, FrameType::begin, 0, listener.begin(0)).ok());
  CHECK(listener.has_lost(2));

  wire::GroupInfo group = plan();
  group.members[2].role = wire::MemberRole::auxiliary;
  for (const SampleCount weight : {0, 1}) {
    Stage stage(group);
    const Status begun = stage.say(2, FrameType::begin, 0, stage.begin(2, weight));
    CHECK(begun.ok() == (weight == 0));
  }
}

TEST_CASE("a member is done once, with one result") {
  Stage stage;
  stage.all_begin();
  const auto done = [](std::uint8_t digest) {
    wire::Done message;
    message.result_digest.bytes[0] = digest;
    return wire::encode(message);
  };
  CHECK(stage.say(2, FrameType::done, 0, done(1)).ok());
  CHECK(stage.say(2, FrameType::done, 0, done(1)).ok());
  CHECK_FALSE(stage.say(2, FrameType::done, 0, done(2)).ok());
  CHECK(stage.has_lost(2));
}

TEST_CASE("nothing of a round is taken from a member before its begin, or sent to it") {
  Stage stage;
  OutgoingFrame frame;
  REQUIRE(stage.engine.next_frame(stage.now, 2, frame));
  CHECK(frame.head[0] == static_cast<std::uint8_t>(FrameType::begin));
  CHECK_FALSE(stage.engine.next_frame(stage.now, 2, frame));
  CHECK_FALSE(stage.say(2, FrameType::contribution, 2, kEight).ok());
}

TEST_CASE("what may happen around a change of view is ignored, not punished") {
  Stage stage;
  stage.all_begin();
  REQUIRE(stage.say(0, FrameType::contribution, 2, kEight).ok());
  const std::vector<float> once = stage.output;
  CHECK(stage.say(0, FrameType::contribution, 2, kEight).ok());  // sent twice
  CHECK(stage.output == once);
  CHECK(stage.say(0, FrameType::contribution, 4, kEight).ok());   // not owned here
  CHECK(stage.say(0, FrameType::want, 4, {}).ok());               // nothing was lost
  CHECK(stage.say(0, FrameType::begin, 0, stage.begin(0)).ok());  // a repeated begin
  REQUIRE(stage.say(0, FrameType::result, 0, result(15, kEight)).ok());
  CHECK(stage.say(0, FrameType::result, 0, result(15, kEight)).ok());
  CHECK(stage.say(0, FrameType::ping, 0, {}).ok());
  CHECK(stage.lost_as_told(2).count() == 0);
}

TEST_CASE("a flood of wants is refused") {
  Stage stage;
  stage.lose_last_member();
  // Survivors are 0, 1, 2: segment 6 of the lost part goes to 0.
  CHECK(stage.say(0, FrameType::want, 6, {}).ok());
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = stage.say(0, FrameType::want, 6, {});
  CHECK_FALSE(status.ok());
}

TEST_CASE("a want for a segment that belongs to somebody else is refused") {
  Stage stage;
  stage.lose_last_member();
  CHECK_FALSE(stage.say(0, FrameType::want, 7, {}).ok());
}

TEST_CASE("who comes back by another link, with nothing of the round, is told that it is too late") {
  Stage stage;
  stage.all_begin();
  stage.engine.on_link_lost(stage.now, 0, "connection reset");
  OutgoingFrame frame;
  CHECK_FALSE(stage.engine.next_frame(stage.now, 0, frame));
  CHECK(stage.say(0, FrameType::contribution, 2, kEight).ok());  // nobody here may accuse this one of nonsense
  CHECK(stage.lost_as_told(2).count() == 0);
  REQUIRE(stage.say(0, FrameType::begin, 0, stage.begin(0, 5)).ok());
  std::vector<FrameType> said;
  wire::RankSet lost(4);
  while (stage.engine.next_frame(stage.now, 0, frame)) {
    said.push_back(wire::decode_header(std::span(frame.head).first<wire::kFrameHeaderBytes>())->type);
    if (said.back() != FrameType::inventory) continue;
    lost = wire::decode_inventory(std::span(frame.head).subspan(wire::kFrameHeaderBytes), 4, 8)->lost;
  }
  CHECK(said == std::vector{FrameType::begin, FrameType::inventory});
  CHECK(lost.test(0));
  CHECK(stage.has_lost(0, 2));
}

TEST_CASE("a member that hears that it and half of the others are lost leaves, and says no more") {
  Stage stage;
  stage.all_begin();
  wire::RankSet lost(4);
  lost.set(kSelf);
  lost.set(0);
  for (int i = 0; i < 4; ++i) {  // not heard since; otherwise this would be a complaint about members that are well
    stage.now += std::chrono::milliseconds(250);
    stage.engine.on_timer(stage.now);
  }
  for (const Rank from : {2, 3}) CHECK(stage.say(from, FrameType::inventory, 0, stage.inventory(from, lost)).ok());
  REQUIRE(stage.engine.outcome() != nullptr);
  CHECK(stage.engine.outcome()->verdict == Verdict::expelled);
  CHECK(stage.engine.next_deadline() == kNever);
  OutgoingFrame frame;
  for (const Rank to : {0, 2, 3}) CHECK_FALSE(stage.engine.next_frame(stage.now, to, frame));
}

TEST_CASE("a member that hears that it is lost asks for the result, and takes no nonsense for it") {
  const auto result = [](float value) {
    Bytes payload{0b1101};
    const std::vector<float> values(8, value);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    payload.insert(payload.end(), bytes, bytes + values.size() * sizeof(float));
    return payload;
  };
  Stage stage;
  stage.all_begin();
  wire::RankSet lost(4);
  lost.set(kSelf);
  for (const Rank from : {0, 2}) CHECK(stage.say(from, FrameType::inventory, 0, stage.inventory(from, lost)).ok());
  CHECK(stage.engine.outcome() == nullptr);
  for (const Rank to : {0, 2, 3}) CHECK(stage.said_to(to).back() == FrameType::listen);
  CHECK_FALSE(stage.say(0, FrameType::result, 99, result(1)).ok());
  CHECK_FALSE(stage.say(0, FrameType::result, 0, Bytes(3)).ok());
  CHECK_FALSE(stage.say(0, FrameType::result, 0, Bytes(1 + 8 * sizeof(float), 0xff)).ok());  // a member too many
  CHECK_FALSE(stage.say(0, FrameType::done, 0, wire::encode(wire::Done{{}, {1, 2}})).ok());
  CHECK(stage.say(0, FrameType::result, 0, result(1)).ok());
  // The segments that it would have to hold are not those that they claim to hold.
  for (const std::uint32_t segment : {1, 3, 5, 7}) {
    Bytes payload = result(2);
    payload.resize(1 + 4 * sizeof(float));
    CHECK(stage.say(3, FrameType::result, segment, payload).ok());
  }
  for (const std::uint32_t segment : {2, 4, 6}) CHECK(stage.say(3, FrameType::result, segment, result(3)).ok());
  CHECK(stage.engine.outcome() == nullptr);
  CHECK(stage.say(2, FrameType::done, 0, wire::encode(wire::Done{{}, {1, 2, 1, 1}})).ok());
  CHECK(stage.engine.outcome() == nullptr);  // one of three may lie
  CHECK(stage.say(3, FrameType::done, 0, wire::encode(wire::Done{{}, {1, 2, 1, 1}})).ok());
  REQUIRE(stage.engine.outcome() != nullptr);
  CHECK(stage.engine.outcome()->verdict == Verdict::expelled);
}

TEST_CASE("a lost set that its member has not signed for this plan is refused by name") {
  wire::RankSet lost(4);
  lost.set(0);
  const auto refusal = [&](auto spoil) {
    Stage stage;
    stage.all_begin();
    wire::LostSet said{3, swarm::plan_digest(stage.group), lost};
    said.signature = signed_by(stage.group, 3).signer->sign(wire::signed_text(said));
    spoil(stage, said);
    const Status status = stage.say(2, FrameType::lost_set, 0, wire::encode(said));  // passed on
    return status.ok() ? std::string() : status.error().message;
  };
  using Set = wire::LostSet;
  CHECK(refusal([](const Stage&, Set&) {}).empty());
  CHECK(refusal([](const Stage&, Set& said) { said.signature = {}; }) == "a lost set is refused: it is not signed");
  CHECK(refusal([](const Stage&, Set& said) { said.lost.set(2); }) == "a lost set is refused: its signature is wrong");
  CHECK(refusal([](const Stage&, Set& said) { said.rank = 2; }) == "a lost set is refused: another key signed it");
  CHECK(refusal([](const Stage&, Set& said) { said.plan_digest.bytes[0] ^= 1; }) ==
        "a lost set is refused: it is of another plan");
  Stage stage;
  stage.all_begin();
  CHECK_FALSE(stage.say(2, FrameType::inventory, 0, wire::encode(wire::Inventory{lost, {0}, {1}})).ok());
}

TEST_CASE("an fp32 segment is sent from where it lies") {
  Stage stage;
  stage.all_begin();
  OutgoingFrame frame;
  bool seen = false;
  while (stage.engine.next_frame(stage.now, 2, frame)) {
    if (frame.head[0] != static_cast<std::uint8_t>(FrameType::contribution)) continue;
    seen = true;
    const auto* at = reinterpret_cast<const float*>(frame.payload.data());
    CHECK(at >= stage.input.data());
    CHECK(at < stage.input.data() + stage.input.size());
  }
  CHECK(seen);
}

TEST_CASE("one that is sent other results than their owner has sealed takes them from others") {
  for (const std::size_t members : {3, 4, 5}) {
    CAPTURE(members);
    InMemoryGroup group({.members = members});
    // Rank 1's results reach rank 0 with another first value.
    group.set_tamper([](Rank from, Rank to, Bytes& frame) {
      if (from == 1 && to == 0 && frame[0] == static_cast<std::uint8_t>(FrameType::result)) frame[33 + 2] ^= 1;
      return true;
    });
    group.run();
    for (Rank rank = 0; rank < members; ++rank) {
      CHECK(group.outcome(rank)->verdict == Verdict::averaged);
      CHECK(group.outcome(rank)->result_digest == group.outcome(1)->result_digest);
      CHECK(group.output(rank) == group.output(1));
    }
  }
}

TEST_CASE("of two that hold different bits, neither believes itself") {
  InMemoryGroup group({.members = 2});
  group.set_tamper([](Rank from, Rank, Bytes& frame) {
    if (from == 1 && frame[0] == static_cast<std::uint8_t>(FrameType::result)) frame[33 + 2] ^= 1;
    return true;
  });
  group.run();
  CHECK(group.outcome(0)->verdict == Verdict::expelled);
  CHECK(group.outcome(1)->verdict == Verdict::minority);
}

TEST_CASE("one that sends another codec than the plan's is left out, and the round goes on without it") {
  for (const bool planned : {true, false}) {
    InMemoryGroup group({.members = 4, .codec = "fp16", .codecs = {"", "", "int8", ""}});
    group.set_tamper([planned](Rank from, Rank, Bytes& frame) {
      const bool contribution = frame[0] == static_cast<std::uint8_t>(FrameType::contribution);
      if (from == 2 && contribution && !planned) frame[2] = static_cast<std::uint8_t>(Codec::bf16);
      return true;
    });
    group.run();
    CHECK(group.refusals().empty() == planned);
    for (const Rank rank : {0, 1, 3}) {
      CHECK(group.outcome(rank)->verdict == Verdict::averaged);
      CHECK(group.outcome(rank)->lost.empty() == planned);
      CHECK(untruth(group, rank, 1.0 / 253 + 0x1p-10) == "");
      CHECK(group.outcome(rank)->result_digest == group.outcome(0)->result_digest);
    }
    if (!planned) CHECK(group.refusals()[0].find("sent bf16 where the plan says int8") != std::string::npos);
  }
}

TEST_CASE("poison from one member reaches nobody's sum") {
  for (Rank bad = 0; bad < 4; ++bad) {
    InMemoryGroup group({.members = 4});
    group.set_tamper([bad](Rank from, Rank, Bytes& frame) {
      const float infinity = INFINITY;
      if (from == bad && frame[0] == static_cast<std::uint8_t>(FrameType::contribution) && frame[24] % 5 == 2) {
        std::memcpy(frame.data() + 40, &infinity, 4);
      }
      return true;
    });
    group.run();
    for (Rank rank = 0; rank < 4; ++rank) {
      CAPTURE(rank);
      if (rank == bad) continue;
      CHECK(group.outcome(rank)->verdict == Verdict::averaged);
      CHECK(untruth(group, rank) == "");
    }
    CHECK_FALSE(group.refusals().empty());
  }
}
