#include "shared/wire/calls.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>
#include <string>

#include "shared/base/words.h"
#include "shared/wire/cbor.h"
#include "shared/wire/limits.h"

using namespace starling;
using namespace starling::wire;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Numbers = std::vector<std::int32_t>;

constexpr RoundIndex kRoundsEnd = RoundIndex{1} << 53;

Call call_forth() {
  return {.cell = 3, .round = 40, .counts = {2, 0, 3}, .rows = {0, 2, 1, 0, 2}, .inputs = 3, .budget_ms = 20'000};
}

Call call_back() {
  Call call = call_forth();
  call.is_back = true;
  call.kept = Hash128{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  return call;
}

// A call of `units` units, each with a row of its own, at the last expert of `experts`.
Call call_of(std::size_t units, std::size_t experts) {
  Call call = call_forth();
  call.counts.assign(experts, 0);
  call.counts.back() = static_cast<std::int32_t>(units);
  call.rows.resize(units);
  std::iota(call.rows.begin(), call.rows.end(), 0);
  call.inputs = static_cast<std::int32_t>(units);
  return call;
}

Weights weights() { return {40, {0, 3, 300}, {96, 1, kWeightMax}}; }

// Weights in this many cells.
Weights weights_of(std::size_t cells) {
  Weights weights{40, Numbers(cells), std::vector<SampleCount>(cells, kWeightMax)};
  std::iota(weights.cells.begin(), weights.cells.end(), 0);
  return weights;
}

template <typename Change>
Call changed(const Change& change) {
  Call call = call_forth();
  change(call);
  return call;
}

// Fields of a call as they travel.
struct RawCall {
  std::uint64_t back = 0;
  Bytes counts{1, 0};
  Bytes rows{0, 0};
  Bytes kept{};
};

Bytes bytes_of(const RawCall& call) {
  return CborWriter(8)
      .field("cell", std::uint64_t{3})
      .field("back", call.back)
      .field("round", std::uint64_t{40})
      .field("counts", std::span<const std::uint8_t>(call.counts))
      .field("rows", std::span<const std::uint8_t>(call.rows))
      .field("inputs", std::uint64_t{1})
      .field("budget", std::uint64_t{20'000})
      .field("kept", std::span<const std::uint8_t>(call.kept))
      .take();
}

Bytes bytes_of_weights(const Bytes& cells, const Bytes& samples) {
  return CborWriter(3)
      .field("round", std::uint64_t{40})
      .field("cells", std::span<const std::uint8_t>(cells))
      .field("samples", std::span<const std::uint8_t>(samples))
      .take();
}

// One valid message of every kind. again: bytes of the message that was read; none if it was refused.
struct Kind {
  const char* name;
  Bytes valid;
  Bytes (*again)(std::span<const std::uint8_t>);
};

template <auto Decode>
Bytes read_and_write(std::span<const std::uint8_t> bytes) {
  const auto message = Decode(bytes);
  return message.ok() ? encode(*message) : Bytes();
}

std::vector<Kind> kinds() {
  return {
      {"call forth", encode(call_forth()), read_and_write<decode_call>},
      {"call back", encode(call_back()), read_and_write<decode_call>},
      {"answer", encode(Answer{40, 120, 4096}), read_and_write<decode_answer>},
      {"refusal", encode(Refusal{RefusalReason::stepping, 1500}), read_and_write<decode_refusal>},
      {"weights", encode(weights()), read_and_write<decode_weights>},
  };
}

}  // namespace

TEST_CASE("every message about a call is restored as it was") {
  for (const Call& call : {call_forth(), call_back(), call_of(1, 1)}) {
    const auto read = decode_call(encode(call));
    REQUIRE(read.ok());
    CHECK(*read == call);
  }
  const Answer answer{40, 120, 4096};
  CHECK(*decode_answer(encode(answer)) == answer);
  for (const RefusalReason reason : all_values<RefusalReason>()) {
    const Refusal refusal{reason, 1500};
    CHECK(*decode_refusal(encode(refusal)) == refusal);
  }
  for (const Weights& some : {weights(), Weights{7, {}, {}}}) CHECK(*decode_weights(encode(some)) == some);
}

TEST_CASE("messages at their limits are accepted, and fit their frames") {
  Call call = call_of(kCallUnitsMax, kCellExpertsMax);
  call.cell = INT32_MAX;
  call.is_back = true;
  call.round = kRoundsEnd - 1;
  call.budget_ms = kCallBudgetMaxMs;
  call.kept = Hash128{};
  const Bytes bytes = encode(call);
  CHECK(*decode_call(bytes) == call);
  // Two bytes for each unit and for each expert.
  CHECK(bytes.size() < 2 * (kCallUnitsMax + kCellExpertsMax) + 128);
  CHECK(bytes.size() <= kControlPayloadMax);

  const Answer answer{kRoundsEnd - 1, kCallBudgetMaxMs, kCallWindowMax};
  CHECK(*decode_answer(encode(answer)) == answer);
  const Refusal refusal{RefusalReason::paused, kCallBudgetMaxMs};
  CHECK(*decode_refusal(encode(refusal)) == refusal);

  Weights all = weights_of(kWeightsCellsMax);
  all.round = kRoundsEnd - 1;
  all.cells.back() = INT32_MAX;
  CHECK(*decode_weights(encode(all)) == all);
  CHECK(encode(all).size() <= kControlPayloadMax);
}

TEST_CASE("a call out of range is refused") {
  struct Violation {
    const char* name;
    Call call;
  };
  const std::vector<Violation> violations = {
      {"a cell below 0", changed([](Call& call) { call.cell = -1; })},
      {"a round below 0", changed([](Call& call) { call.round = -1; })},
      {"a round that is too late", changed([](Call& call) { call.round = kRoundsEnd; })},
      {"no experts", changed([](Call& call) { call.counts.clear(); })},
      {"too many experts", call_of(5, kCellExpertsMax + 1)},
      {"a count above all units", changed([](Call& call) { call.counts = {65535}; })},
      {"fewer units than counted", changed([](Call& call) { call.counts[0] = 3; })},
      {"more units than counted", changed([](Call& call) { call.counts[0] = 1; })},
      {"no units", changed([](Call& call) {
         call.counts = {0};
         call.rows.clear();
       })},
      {"too many units", call_of(kCallUnitsMax + 1, 1)},
      {"too many units of few inputs", changed([](Call& call) {
         call.counts = {kCallUnitsMax + 1};
         call.rows.assign(kCallUnitsMax + 1, 0);
       })},
      {"no inputs", changed([](Call& call) { call.inputs = 0; })},
      {"inputs below 0", changed([](Call& call) { call.inputs = -1; })},
      {"more inputs than units", changed([](Call& call) { call.inputs = 6; })},
      {"a row beyond the inputs", changed([](Call& call) { call.rows[4] = 3; })},
      {"no time", changed([](Call& call) { call.budget_ms = 0; })},
      {"time below 0", changed([](Call& call) { call.budget_ms = -1; })},
      {"too much time", changed([](Call& call) { call.budget_ms = kCallBudgetMaxMs + 1; })},
      {"kept inputs on the way forth", changed([](Call& call) { call.kept = Hash128{}; })},
  };
  for (const Violation& violation : violations) {
    CAPTURE(violation.name);
    const auto read = decode_call(encode(violation.call));
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == ErrorCode::corrupt);
    CHECK(read.error().message.starts_with("read call"));
  }
}

TEST_CASE("a call whose fields have no right form is refused") {
  CHECK(decode_call(bytes_of(RawCall{})).ok());
  CHECK(decode_call(bytes_of({.back = 1, .kept = Bytes(16, 7)})).ok());
  CHECK_FALSE(decode_call(bytes_of({.back = 2})).ok());
  CHECK_FALSE(decode_call(bytes_of({.counts = {1, 0, 0}})).ok());
  CHECK_FALSE(decode_call(bytes_of({.counts = {1}})).ok());
  CHECK_FALSE(decode_call(bytes_of({.rows = {0, 0, 0}})).ok());
  CHECK_FALSE(decode_call(bytes_of({.rows = {255, 255}})).ok());
  CHECK_FALSE(decode_call(bytes_of({.back = 1, .kept = Bytes(15, 7)})).ok());
  CHECK_FALSE(decode_call(bytes_of({.back = 1, .kept = Bytes(17, 7)})).ok());
}

TEST_CASE("an answer or a refusal out of range is refused") {
  const auto answers = [](const Answer& answer) { return decode_answer(encode(answer)).ok(); };
  CHECK(answers({0, 0, 0}));
  CHECK_FALSE(answers({-1, 0, 0}));
  CHECK_FALSE(answers({kRoundsEnd, 0, 0}));
  CHECK_FALSE(answers({0, -1, 0}));
  CHECK_FALSE(answers({0, kCallBudgetMaxMs + 1, 0}));
  CHECK_FALSE(answers({0, 0, -1}));
  CHECK_FALSE(answers({0, 0, kCallWindowMax + 1}));
  const auto refuses = [](const Refusal& refusal) { return decode_refusal(encode(refusal)).ok(); };
  CHECK(refuses({RefusalReason::busy, 0}));
  CHECK_FALSE(refuses({static_cast<RefusalReason>(all_values<RefusalReason>().size()), 0}));
  CHECK_FALSE(refuses({RefusalReason::busy, -1}));
  CHECK_FALSE(refuses({RefusalReason::busy, kCallBudgetMaxMs + 1}));
}

TEST_CASE("weights out of range are refused") {
  const auto accepted = [](const Weights& weights) { return decode_weights(encode(weights)).ok(); };
  CHECK(accepted({40, {0, 3}, {1, 1}}));
  CHECK_FALSE(accepted({-1, {0, 3}, {1, 1}}));
  CHECK_FALSE(accepted({kRoundsEnd, {0, 3}, {1, 1}}));
  CHECK_FALSE(accepted({40, {0, 3}, {1}}));
  CHECK_FALSE(accepted({40, {0}, {1, 1}}));
  CHECK_FALSE(accepted({40, {3, 3}, {1, 1}}));
  CHECK_FALSE(accepted({40, {3, 0}, {1, 1}}));
  CHECK_FALSE(accepted({40, {0, 3}, {1, 0}}));
  CHECK_FALSE(accepted({40, {0, 3}, {1, kWeightMax + 1}}));
  CHECK_FALSE(accepted(weights_of(kWeightsCellsMax + 1)));
  const Bytes one{1, 0, 0, 0, 0, 0, 0, 0};
  CHECK(decode_weights(bytes_of_weights({0, 1, 0, 0}, one))->cells == Numbers{256});
  CHECK_FALSE(decode_weights(bytes_of_weights({255, 255, 255, 255}, one)).ok());  // a cell below 0
  CHECK_FALSE(decode_weights(bytes_of_weights({0, 1, 0, 0, 0}, one)).ok());
  CHECK_FALSE(decode_weights(bytes_of_weights({0, 1, 0, 0}, {1, 0, 0, 0, 0, 0, 0})).ok());
  CHECK_FALSE(decode_weights(bytes_of_weights({0, 1, 0, 0}, Bytes(8, 255))).ok());  // a sample count below 0
}

TEST_CASE("a message about a call that is cut short anywhere, or followed by anything, is refused") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    REQUIRE(kind.again(kind.valid) == kind.valid);
    for (std::size_t bytes = 0; bytes < kind.valid.size(); ++bytes) {
      CHECK(kind.again(std::span(kind.valid).first(bytes)).empty());
    }
    Bytes longer = kind.valid;
    longer.push_back(0);
    CHECK(kind.again(longer).empty());
  }
}

TEST_CASE("messages about calls have one form each") {
  // One flipped bit gives an error or another message that encodes to exactly those bytes.
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    for (std::size_t bit = 0; bit < kind.valid.size() * 8; ++bit) {
      Bytes flipped = kind.valid;
      flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1 << bit % 8);
      const Bytes again = kind.again(flipped);
      CHECK((again.empty() || again == flipped));
    }
  }
}

TEST_CASE("random bytes are no message about a call") {
  std::mt19937 random(20250311);  // NOLINT: a fixed seed
  for (int i = 0; i < 5000; ++i) {
    Bytes bytes(random() % 64);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    for (const Kind& kind : kinds()) CHECK(kind.again(bytes).empty());
  }
}

TEST_CASE("a call is followed by inputs unless they are kept, and by the gradient of results on the way back") {
  constexpr std::size_t kWidth = 7;  // the calls have three inputs and five units
  CHECK(call_floats(call_forth(), kWidth) == 3 * kWidth);
  CHECK(answer_floats(call_forth(), kWidth) == 5 * kWidth);
  Call back = call_back();
  CHECK(call_floats(back, kWidth) == 5 * kWidth);
  CHECK(answer_floats(back, kWidth) == 3 * kWidth);
  back.kept.reset();
  CHECK(call_floats(back, kWidth) == 8 * kWidth);
}

TEST_CASE("floats of calls are cut into chunks, and the last one may be shorter") {
  CHECK(call_chunk_count(0) == 0);
  CHECK(call_chunk_count(1) == 1);
  CHECK(call_chunk_count(kCallChunkFloats) == 1);
  CHECK(call_chunk_count(kCallChunkFloats + 1) == 2);
  CHECK(call_chunk_floats(0, 0) == 0);
  CHECK(call_chunk_floats(kCallChunkFloats, 0) == kCallChunkFloats);
  CHECK(call_chunk_floats(kCallChunkFloats, 1) == 0);
  CHECK(call_chunk_floats(2 * kCallChunkFloats + 5, 0) == kCallChunkFloats);
  CHECK(call_chunk_floats(2 * kCallChunkFloats + 5, 1) == kCallChunkFloats);
  CHECK(call_chunk_floats(2 * kCallChunkFloats + 5, 2) == 5);
  CHECK(call_chunk_floats(2 * kCallChunkFloats + 5, UINT32_MAX) == 0);
  for (std::uint8_t number = 0; codec_from_number(number); ++number) {
    CHECK(encoded_bytes(*codec_from_number(number), kCallChunkFloats) <= kFramePayloadMax);
  }
}

TEST_CASE("every reason for a refusal has a word") {
  CHECK(word_of(RefusalReason::busy) == "busy");
  CHECK(word_of(RefusalReason::not_held) == "not_held");
  CHECK(from_word<RefusalReason>("paused") == RefusalReason::paused);
}
