// Calls to the experts that other volunteers hold (shared/run/cells.h), and the messages of the frames about them.
//
// A caller gives each call an id, 16 random bytes: the frames of the call and of its answer have it as their group. It
// sends call, and then call_data with floats: the inputs, [inputs, width], unless the holder has kept them; on the way
// back the gradient of the results behind them, [units, width]. A unit is a row of the inputs at one expert; units are
// in the order of experts. The holder sends refusal, or it sends answer, and then answer_data: the results, [units,
// width]; on the way back the gradient of the inputs, [inputs, width]. The caller may end the call at any time by
// call_off.
//
// The floats of a call, or of an answer, are one sequence, cut into chunks of kCallChunkFloats; the last one may
// be shorter. Each frame holds one chunk, and the segment in its header is the chunk's number, from 0.
//
// decode_* return corrupt, with the reason, for anything that is out of bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/wire/frames.h"

namespace starling::wire {

constexpr std::size_t kCallUnitsMax = 16 * 1024;    // units in a call
constexpr std::size_t kCellExpertsMax = 1024;       // experts in a cell
constexpr std::size_t kCallChunkFloats = 1 << 18;   // 1 MiB as fp32
constexpr std::size_t kCallsOpenMax = 64;           // calls of one caller without a complete answer, on a link
constexpr std::int64_t kCallBudgetMaxMs = 600'000;  // limit for compute_ms and wait_ms, too
constexpr std::int64_t kCallWindowMax = kCallsOpenMax * kCallUnitsMax;  // units
constexpr std::size_t kWeightsCellsMax = 4096;                          // cells in a message
static_assert(kCallChunkFloats * sizeof(float) <= kFramePayloadMax);

// "Compute these rows with the experts of a cell that you hold." On the way back: "Compute the gradient for them."
struct Call {
  std::int32_t cell = 0;  // its number in the model
  bool is_back = false;
  RoundIndex round = 0;                // the caller's, under way
  std::vector<std::int32_t> counts{};  // units, by expert of the cell
  std::vector<std::int32_t> rows{};    // by unit: a row of the inputs
  std::int32_t inputs = 0;             // rows of the inputs; no more than units
  std::int64_t budget_ms = 0;          // after that the caller has no use for the answer
  // Only on the way back: the id of the earlier call with which the holder got the inputs. Without it, they are sent.
  std::optional<Hash128> kept{};
  friend bool operator==(const Call&, const Call&) = default;
};

// "Here is the result." Its floats follow.
struct Answer {
  RoundIndex state_round = 0;     // the round whose state the experts had
  std::int64_t compute_ms = 0;    // without waiting and the line
  std::int64_t window_units = 0;  // units that the holder would take from this caller at once
  friend bool operator==(const Answer&, const Answer&) = default;
};

// Why a holder does not answer a call.
enum class RefusalReason : std::uint8_t {
  busy,       // it has as many units waiting as it takes
  stepping,   // its experts are changing to the next round's state
  not_held,   // it does not hold the cell
  forgotten,  // it has not kept the inputs any more: they must be sent
  paused,     // its volunteer has paused it
};
inline constexpr std::array<std::string_view, 5> kRefusalReasonWords{"busy", "stepping", "not_held", "forgotten",
                                                                     "paused"};
inline std::span<const std::string_view> words_of(RefusalReason /*reason*/) { return kRefusalReasonWords; }

// "You get no answer from me."
struct Refusal {
  RefusalReason reason = RefusalReason::busy;  // by its number, in the order of the enum, from 0
  std::int64_t wait_ms = 0;                    // a further call is refused before that; 0: unknown
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// "In each of these cells of yours, this number of my samples counts in the round."
struct Weights {
  RoundIndex round = 0;
  std::vector<std::int32_t> cells{};   // ascending, each once
  std::vector<SampleCount> samples{};  // by cell
  friend bool operator==(const Weights&, const Weights&) = default;
};

// Floats that follow a call, and its answer. width: the floats of a row.
std::size_t call_floats(const Call& call, std::size_t width);
std::size_t answer_floats(const Call& call, std::size_t width);

// Chunks of this number of floats.
constexpr std::size_t call_chunk_count(std::size_t floats) {
  return floats / kCallChunkFloats + (floats % kCallChunkFloats != 0 ? 1 : 0);
}
// Floats of one chunk; 0 if there is no such chunk.
constexpr std::size_t call_chunk_floats(std::size_t floats, std::size_t chunk) {
  if (chunk >= call_chunk_count(floats)) return 0;
  return std::min(kCallChunkFloats, floats - chunk * kCallChunkFloats);
}

// Rows, counts, cells and samples must not be negative, nor rows and counts above 65535: they would have no form.
std::vector<std::uint8_t> encode(const Call& message);
std::vector<std::uint8_t> encode(const Answer& message);
std::vector<std::uint8_t> encode(const Refusal& message);
std::vector<std::uint8_t> encode(const Weights& message);

Result<Call> decode_call(std::span<const std::uint8_t> cbor);
Result<Answer> decode_answer(std::span<const std::uint8_t> cbor);
Result<Refusal> decode_refusal(std::span<const std::uint8_t> cbor);
Result<Weights> decode_weights(std::span<const std::uint8_t> cbor);

}  // namespace starling::wire
