#include "shared/wire/frames.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "shared/wire/limits.h"

using namespace starling;
using namespace starling::wire;

namespace {

using Bytes = std::vector<std::uint8_t>;

template <typename Id>
Id id_of(std::uint8_t first) {
  Id id;
  for (std::size_t i = 0; i < Id::kSize; ++i) id.bytes[i] = static_cast<std::uint8_t>(first + i);
  return id;
}

std::array<std::uint8_t, kFrameHeaderBytes> header_bytes(const FrameHeader& header) {
  std::array<std::uint8_t, kFrameHeaderBytes> bytes{};
  encode_header(header, bytes);
  return bytes;
}

Bytes inventory_bytes() {
  RankSet lost(11);
  lost.set(3);
  lost.set(10);
  return encode(Inventory{lost, {0xff, 0x01}, {96, kWeightUnknown}});
}

LostSet lost_set() {
  LostSet set{5, id_of<Hash128>(9), RankSet(11)};
  set.lost.set(3);
  set.judged = set.lost;
  set.signature.key.bytes[31] = 2;
  set.signature.signature.bytes[63] = 3;
  return set;
}

// One valid message of every kind, and a check whether bytes are accepted as it.
struct Kind {
  const char* name;
  Bytes valid;
  bool (*accepts)(std::span<const std::uint8_t>);
};

std::vector<Kind> kinds() {
  StateInfo info{
      .round = 7, .state_digest = id_of<Digest>(1), .state_floats = kStateChunkFloats + 1, .chunk_digests = {}};
  info.chunk_digests = {id_of<Digest>(2), id_of<Digest>(3)};
  return {
      {"hello", encode(Hello{kPeerProtocolVersion, "tiny-gpt", id_of<LinkToken>(4)}),
       [](auto b) { return decode_hello(b).ok(); }},
      {"join", encode(Join{id_of<LinkToken>(4)}), [](auto b) { return decode_join(b).ok(); }},
      {"begin", encode(Begin{5, 1 << 20, 96, id_of<Hash128>(9)}), [](auto b) { return decode_begin(b).ok(); }},
      {"inventory", inventory_bytes(), [](auto b) { return decode_inventory(b, 11, 9).ok(); }},
      {"done", encode(Done{id_of<Hash128>(5), {3, kWeightUnknown}}), [](auto b) { return decode_done(b, 2).ok(); }},
      {"seal", encode(Seal{id_of<GroupId>(7), id_of<Hash128>(9), 5, id_of<Hash128>(2)}),
       [](auto b) { return decode_seal(b).ok(); }},
      {"lost set", encode(lost_set()), [](auto b) { return decode_lost_set(b, 11).ok(); }},
      {"request", encode(StateRequest{7, id_of<Digest>(1), 3, 300}),
       [](auto b) { return decode_state_request(b).ok(); }},
      {"info", encode(info), [](auto b) { return decode_state_info(b).ok(); }},
  };
}

}  // namespace

TEST_CASE("a header survives the wire") {
  const FrameHeader header{FrameType::result, 1 << 20, id_of<GroupId>(7), 0xfffffffe, Codec::int8, 0xfffffffd};
  const auto decoded = decode_header(header_bytes(header));
  REQUIRE(decoded.ok());
  CHECK(decoded->type == header.type);
  CHECK(decoded->payload_bytes == header.payload_bytes);
  CHECK(decoded->group == header.group);
  CHECK(decoded->segment == header.segment);
  CHECK(decoded->codec == header.codec);
  CHECK(decoded->number == header.number);
}

TEST_CASE("a header is laid out as documented") {
  auto bytes = header_bytes({FrameType::contribution, 0x01020304, id_of<GroupId>(0x40), 0x0a0b0c0d, Codec::fp16});
  set_number(0x05060708, bytes);
  CHECK(bytes[0] == 17);
  CHECK(bytes[1] == kPeerProtocolVersion);
  CHECK(bytes[2] == 1);
  CHECK(bytes[3] == 0);
  CHECK(std::vector<int>(bytes.begin() + 4, bytes.begin() + 8) == std::vector<int>{4, 3, 2, 1});
  CHECK(bytes[8] == 0x40);
  CHECK(bytes[23] == 0x4f);
  CHECK(std::vector<int>(bytes.begin() + 24, bytes.end()) == std::vector<int>{0x0d, 0x0c, 0x0b, 0x0a, 8, 7, 6, 5});
}

TEST_CASE("a header that breaks a rule is refused") {
  const auto refused = [](const FrameHeader& header, std::size_t at, std::uint8_t value) {
    auto bytes = header_bytes(header);
    REQUIRE(decode_header(bytes).ok());
    bytes[at] = value;
    return !decode_header(bytes).ok();
  };
  const FrameHeader result{FrameType::result, 100, id_of<GroupId>(7), 5};
  CHECK(refused(result, 0, 0));
  CHECK(refused(result, 0, 255));
  CHECK(refused(result, 1, kPeerProtocolVersion + 1));
  CHECK(refused(result, 2, 99));  // no such codec
  CHECK(refused(result, 3, 1));
  CHECK(refused({FrameType::want, 0, id_of<GroupId>(7), 5}, 2, 1));  // a codec for an empty payload
  CHECK(refused({FrameType::hello, 20, {}, 0}, 31, 1));              // a number before numbers begin
  CHECK(refused({FrameType::join, 20, {}, 0}, 28, 1));
  CHECK(refused({FrameType::join, 20, {}, 0}, 5, 0x80));               // far too long
  CHECK(refused(result, 7, 1));                                        // 16 MiB of payload
  CHECK(refused({FrameType::ping, 0, {}, 0}, 4, 1));                   // a ping with a payload
  CHECK(refused({FrameType::hello, 20, {}, 0}, 8, 1));                 // a link frame with a group
  CHECK(refused({FrameType::done, 20, id_of<GroupId>(1), 0}, 24, 1));  // a done with a segment
}

TEST_CASE("a frame of a call bears the call's id, its floats a chunk and a codec, and weights neither") {
  using enum FrameType;
  const auto accepted = [](const FrameHeader& header) { return decode_header(header_bytes(header)).ok(); };
  const GroupId id = id_of<GroupId>(7);
  for (const FrameType type : {call, answer, refusal, call_off}) {
    CAPTURE(static_cast<int>(type));
    CHECK(accepted({type, 0, id}));
    CHECK_FALSE(accepted({type, 0, id, 1}));
    CHECK_FALSE(accepted({type, 0, id, 0, Codec::int8}));
    CHECK(accepted({type, 20, id}) == (type != call_off));
    CHECK_FALSE(accepted({type, kControlPayloadMax + 1, id}));
  }
  for (const FrameType type : {call_data, answer_data}) {
    CAPTURE(static_cast<int>(type));
    CHECK(accepted({type, kFramePayloadMax, id, 5, Codec::int8}));
    CHECK_FALSE(accepted({type, kFramePayloadMax + 1, id, 5, Codec::int8}));
  }
  CHECK(accepted({weights, 20, {}}));
  CHECK_FALSE(accepted({weights, 20, id}));
  CHECK_FALSE(accepted({weights, 20, {}, 1}));
  CHECK_FALSE(accepted({weights, kControlPayloadMax + 1, {}}));
  CHECK_FALSE(accepted({static_cast<FrameType>(55), 0, id}));
}

TEST_CASE("every control message is restored as it was") {
  const auto hello = decode_hello(encode(Hello{3, "tiny-gpt", id_of<LinkToken>(4)}));
  REQUIRE(hello.ok());
  CHECK(hello->protocol == 3);
  CHECK(hello->run_id == "tiny-gpt");
  CHECK(hello->token == id_of<LinkToken>(4));

  const auto join = decode_join(encode(Join{id_of<LinkToken>(4)}));
  REQUIRE(join.ok());
  CHECK(join->token == id_of<LinkToken>(4));

  const auto begin = decode_begin(encode(Begin{5, std::int64_t{1} << 32, std::int64_t{1} << 40, id_of<Hash128>(9)}));
  REQUIRE(begin.ok());
  CHECK(begin->vector_floats == std::int64_t{1} << 32);
  CHECK(begin->rank == 5);
  CHECK(begin->weight == std::int64_t{1} << 40);
  CHECK(begin->plan_digest == id_of<Hash128>(9));
  Begin full{5, 1, 1, id_of<Hash128>(9), {7}, 3, {0.5F}, {id_of<Hash128>(2)}, {id_of<PeerId>(3).bytes, {}}};
  full.signature.signature.bytes[63] = 9;
  CHECK(decode_begin(encode(full))->signature == full.signature);
  CHECK(decode_begin(encode(full))->part_digests == full.part_digests);
  CHECK(signed_text(full) == signed_text(Begin{5, 1, 1, id_of<Hash128>(9), {7}, 3, {0.5F}, {id_of<Hash128>(2)}}));
  CHECK(signed_text(full) != signed_text(Begin{5, 1, 1, id_of<Hash128>(9), {7}, 3, {0.5F}, {id_of<Hash128>(3)}}));

  const auto inventory = decode_inventory(inventory_bytes(), 11, 9);
  REQUIRE(inventory.ok());
  CHECK(inventory->lost.count() == 2);
  CHECK(inventory->lost.test(10));
  CHECK(inventory->held == Bytes{0xff, 0x01});
  CHECK(inventory->weights == std::vector<SampleCount>{96, kWeightUnknown});

  const auto request = decode_state_request(encode(StateRequest{7, id_of<Digest>(1), 3, 300}));
  REQUIRE(request.ok());
  CHECK(request->round == 7);
  CHECK(request->first_chunk == 3);
  CHECK(request->chunk_count == 300);

  const auto info = decode_state_info(kinds().back().valid);
  REQUIRE(info.ok());
  CHECK(info->state_floats == kStateChunkFloats + 1);
  CHECK(info->chunk_digests == std::vector<Digest>{id_of<Digest>(2), id_of<Digest>(3)});
}

TEST_CASE("a message cut short anywhere, or followed by anything, is refused") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    REQUIRE(kind.accepts(kind.valid));
    for (std::size_t bytes = 0; bytes < kind.valid.size(); ++bytes) {
      CHECK_FALSE(kind.accepts(std::span(kind.valid).first(bytes)));
    }
    Bytes longer = kind.valid;
    longer.push_back(0);
    CHECK_FALSE(kind.accepts(longer));
  }
}

TEST_CASE("what is accepted is exactly what would have been written") {
  // One flipped bit gives an error or another message that encodes to exactly those bytes: each message has one form.
  const Bytes valid = encode(Begin{5, 1 << 20, 96, id_of<Hash128>(9)});
  for (std::size_t bit = 0; bit < valid.size() * 8; ++bit) {
    Bytes flipped = valid;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1 << bit % 8);
    const auto begin = decode_begin(flipped);
    if (begin.ok()) CHECK(encode(*begin) == flipped);
  }
}

TEST_CASE("random bytes are refused, not believed") {
  std::mt19937 random(20240607);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(random() % 64);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    for (const Kind& kind : kinds()) CHECK_FALSE(kind.accepts(bytes));
  }
}

TEST_CASE("deep nesting and absurd lengths cost nothing") {
  CHECK_FALSE(decode_begin(Bytes(kControlPayloadMax, 0x81)).ok());
  CHECK_FALSE(decode_begin(Bytes{0xa3, 0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).ok());
}

TEST_CASE("what is signed of a lost set is what an inventory says, too") {
  const LostSet set = lost_set();
  const auto read = decode_lost_set(encode(set), 11);
  REQUIRE(read.ok());
  CHECK(read->signature == set.signature);
  CHECK(signed_text(*read) == signed_text(set));
  CHECK_FALSE(decode_lost_set(encode(set), 17).ok());
  LostSet other = set;
  other.lost.set(4);
  CHECK(signed_text(other) != signed_text(set));
  other = set;
  other.judged.reset(3);
  CHECK(signed_text(other) != signed_text(set));
  CHECK(decode_lost_set(encode(other), 11)->judged == other.judged);
  other.judged.set(4);  // it is not lost
  CHECK_FALSE(decode_lost_set(encode(other), 11).ok());
  other.judged = RankSet();
  CHECK(decode_lost_set(encode(other), 11)->judged == RankSet());
  const Inventory inventory{set.lost, {0, 0}, {7}, {}, set.signature, set.judged};
  const auto read_inventory = decode_inventory(encode(inventory), 11, 9);
  REQUIRE(read_inventory.ok());
  CHECK(read_inventory->signature == set.signature);
  CHECK(read_inventory->judged == set.judged);
}

TEST_CASE("an inventory for another number of members or segments is refused") {
  const Bytes bytes = inventory_bytes();
  CHECK(decode_inventory(bytes, 11, 9).ok());
  CHECK_FALSE(decode_inventory(bytes, 10, 9).ok());  // bit 10 would name an eleventh member
  CHECK_FALSE(decode_inventory(bytes, 17, 9).ok());
  CHECK_FALSE(decode_inventory(bytes, 11, 8).ok());
  CHECK_FALSE(decode_inventory(bytes, 11, 17).ok());
}

TEST_CASE("an inventory names one weight in range for each lost member") {
  RankSet lost(11);
  lost.set(3);
  const auto accepted = [&](const std::vector<SampleCount>& weights) {
    return decode_inventory(encode(Inventory{lost, {0, 0}, weights}), 11, 9).ok();
  };
  CHECK(accepted({0}));
  CHECK_FALSE(accepted({}));
  CHECK_FALSE(accepted({1, 2}));
  CHECK_FALSE(accepted({-2}));
  CHECK_FALSE(accepted({(SampleCount{1} << 40) + 1}));
}

TEST_CASE("draws travel beside weights, one for each or none") {
  CHECK(decode_begin(encode(Begin{5, 1, 1, {}, {}, kDrawMax}))->draw == kDrawMax);
  CHECK_FALSE(decode_begin(encode(Begin{5, 1, 1, {}, {}, kDrawMax + 1})).ok());
  RankSet lost(11);
  lost.set(3);
  const auto inventory = [&](const std::vector<SampleCount>& draws) {
    return decode_inventory(encode(Inventory{lost, {0, 0}, {7}, draws}), 11, 9);
  };
  CHECK(inventory({9})->draws == std::vector<SampleCount>{9});
  CHECK(inventory({})->draws.empty());
  CHECK_FALSE(inventory({1, 2}).ok());
  CHECK_FALSE(inventory({-1}).ok());
  const auto done = [](const std::vector<SampleCount>& draws) {
    return decode_done(encode(Done{{}, {3, 5}, draws}), 2);
  };
  CHECK(done({4, 0})->draws == std::vector<SampleCount>{4, 0});
  CHECK_FALSE(done({4}).ok());
}

TEST_CASE("numbers beyond their limit are refused") {
  CHECK_FALSE(decode_begin(encode(Begin{5, (std::int64_t{1} << 32) + 1, 1, {}})).ok());
  CHECK_FALSE(decode_begin(encode(Begin{5, 1, (std::int64_t{1} << 40) + 1, {}})).ok());
  CHECK_FALSE(decode_begin(encode(Begin{4096, 1, 1, {}})).ok());
  CHECK_FALSE(decode_begin(encode(Begin{5, 1, 1, {}, Bytes(kBeginNoteBytesMax + 1)})).ok());
  CHECK(decode_begin(encode(Begin{5, 1, 1, {}, Bytes(kBeginNoteBytesMax, 7)}))->note == Bytes(kBeginNoteBytesMax, 7));
  CHECK_FALSE(decode_begin(encode(Begin{5, -1, 1, {}})).ok());
  CHECK_FALSE(decode_begin(encode(Begin{5, 1, -1, {}})).ok());
  CHECK_FALSE(decode_hello(encode(Hello{1, std::string(41, 'x'), {}})).ok());
  CHECK_FALSE(decode_hello(encode(Hello{1001, "run", {}})).ok());
  CHECK_FALSE(decode_state_request(encode(StateRequest{-1, {}, 0, 1})).ok());
  StateInfo info;
  info.round = -1;
  CHECK_FALSE(decode_state_info(encode(info)).ok());
  info.round = 1;
  CHECK(decode_state_info(encode(info)).ok());
  info.state_floats = 1;  // with no digest for it
  CHECK_FALSE(decode_state_info(encode(info)).ok());
  info.chunk_digests = {id_of<Digest>(2), id_of<Digest>(3)};  // one too many
  CHECK_FALSE(decode_state_info(encode(info)).ok());
  info.state_floats = (std::int64_t{1} << 31) + 1;
  CHECK_FALSE(decode_state_info(encode(info)).ok());
}

TEST_CASE("a rank set is a set") {
  RankSet a(70);
  a.set(0);
  a.set(69);
  RankSet b(70);
  b.set(33);
  CHECK(a.merge(b));
  CHECK_FALSE(a.merge(b));
  CHECK(a.count() == 3);
  CHECK(a.test(33));
  a.reset(33);
  CHECK_FALSE(a.test(33));
  const auto copy = RankSet::from_bytes(a.bytes(), 70);
  REQUIRE(copy.ok());
  CHECK(*copy == a);
  CHECK_FALSE(RankSet::from_bytes(a.bytes(), 69).ok());
}
