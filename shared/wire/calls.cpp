#include "shared/wire/calls.h"

#include <fmt/core.h>

#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "shared/base/verify.h"
#include "shared/wire/cbor.h"
#include "shared/wire/limits.h"

namespace starling::wire {
namespace {

constexpr std::uint64_t kCallRoundMax = (std::uint64_t{1} << 53) - 1;

// The form in which numbers of a list travel, little endian.
using UnitWord = std::uint16_t;
using CellWord = std::uint32_t;
using SampleWord = std::uint64_t;

template <typename Word, typename Number>
std::vector<std::uint8_t> packed(const std::vector<Number>& numbers) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(numbers.size() * sizeof(Word));
  for (const Number number : numbers) {
    VERIFY(std::in_range<Word>(number));
    const auto word = static_cast<std::uint64_t>(number);
    for (std::size_t i = 0; i < sizeof(Word); ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
  return bytes;
}

Error wrong(std::string_view name, std::string_view why) {
  return {ErrorCode::corrupt, fmt::format("read call frame: '{}' {}", name, why)};
}

// corrupt unless all numbers are between `least` and `most`.
template <typename Word, typename Number>
Result<std::vector<Number>> unpacked(std::string_view name, std::span<const std::uint8_t> bytes, Number least,
                                     Number most) {
  if (bytes.size() % sizeof(Word) != 0) return wrong(name, "ends within a number");
  std::vector<Number> numbers;
  numbers.reserve(bytes.size() / sizeof(Word));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    std::uint64_t word = 0;
    for (std::size_t i = sizeof(Word); i-- > 0;) word = word << 8 | bytes[at + i];
    if (std::cmp_less(word, least) || std::cmp_greater(word, most)) return wrong(name, "has a number out of range");
    numbers.push_back(static_cast<Number>(word));
  }
  return numbers;
}

Status check_units(const Call& call) {
  const std::size_t units = call.rows.size();
  if (call.counts.empty()) return wrong("counts", "is empty");
  if (units == 0) return wrong("rows", "is empty");
  // No sum of kCellExpertsMax counts overflows.
  if (std::cmp_not_equal(std::accumulate(call.counts.begin(), call.counts.end(), std::int32_t{0}), units)) {
    return wrong("counts", fmt::format("does not add up to {} units", units));
  }
  if (std::cmp_greater(call.inputs, units)) return wrong("inputs", fmt::format("has more rows than {} units", units));
  return {};
}

}  // namespace

std::size_t call_floats(const Call& call, std::size_t width) {
  const std::size_t inputs = call.kept ? 0 : static_cast<std::size_t>(call.inputs);
  const std::size_t upstream = call.is_back ? call.rows.size() : 0;
  return (inputs + upstream) * width;
}

std::size_t answer_floats(const Call& call, std::size_t width) {
  return (call.is_back ? static_cast<std::size_t>(call.inputs) : call.rows.size()) * width;
}

std::vector<std::uint8_t> encode(const Call& message) {
  const std::vector<std::uint8_t> counts = packed<UnitWord>(message.counts);
  const std::vector<std::uint8_t> rows = packed<UnitWord>(message.rows);
  const auto kept = message.kept ? std::span<const std::uint8_t>(message.kept->bytes) : std::span<const std::uint8_t>();
  return CborWriter(8)
      .field("cell", static_cast<std::uint64_t>(message.cell))
      .field("back", std::uint64_t{message.is_back ? 1U : 0U})
      .field("round", static_cast<std::uint64_t>(message.round))
      .field("counts", std::span<const std::uint8_t>(counts))
      .field("rows", std::span<const std::uint8_t>(rows))
      .field("inputs", static_cast<std::uint64_t>(message.inputs))
      .field("budget", static_cast<std::uint64_t>(message.budget_ms))
      .field("kept", kept)
      .take();
}

Result<Call> decode_call(std::span<const std::uint8_t> cbor) {
  CborReader reader("call", cbor, 8);
  Call message;
  message.cell = static_cast<std::int32_t>(reader.number("cell", INT32_MAX));
  message.is_back = reader.number("back", 1) == 1;
  message.round = static_cast<RoundIndex>(reader.number("round", kCallRoundMax));
  const auto counts = reader.bytes("counts", kCellExpertsMax * sizeof(UnitWord));
  const auto rows = reader.bytes("rows", kCallUnitsMax * sizeof(UnitWord));
  message.inputs = static_cast<std::int32_t>(reader.number("inputs", kCallUnitsMax));
  message.budget_ms = static_cast<std::int64_t>(reader.number("budget", kCallBudgetMaxMs));
  const auto kept = reader.bytes("kept", Hash128::kSize);
  STARLING_TRY(reader.finish());
  if (message.inputs == 0) return wrong("inputs", "is 0");
  if (message.budget_ms == 0) return wrong("budget", "is 0");
  constexpr auto kUnits = static_cast<std::int32_t>(kCallUnitsMax);
  STARLING_ASSIGN(message.counts, (unpacked<UnitWord, std::int32_t>("counts", counts, 0, kUnits)));
  STARLING_ASSIGN(message.rows, (unpacked<UnitWord, std::int32_t>("rows", rows, 0, message.inputs - 1)));
  STARLING_TRY(check_units(message));
  if (kept.empty()) return message;
  if (!message.is_back) return wrong("kept", "stands in a call on the way forth");
  if (kept.size() != Hash128::kSize) return wrong("kept", "has the wrong length");
  std::ranges::copy(kept, message.kept.emplace().bytes.begin());
  return message;
}

std::vector<std::uint8_t> encode(const Answer& message) {
  return CborWriter(3)
      .field("state", static_cast<std::uint64_t>(message.state_round))
      .field("compute", static_cast<std::uint64_t>(message.compute_ms))
      .field("window", static_cast<std::uint64_t>(message.window_units))
      .take();
}

Result<Answer> decode_answer(std::span<const std::uint8_t> cbor) {
  CborReader reader("answer", cbor, 3);
  Answer message;
  message.state_round = static_cast<RoundIndex>(reader.number("state", kCallRoundMax));
  message.compute_ms = static_cast<std::int64_t>(reader.number("compute", kCallBudgetMaxMs));
  message.window_units = static_cast<std::int64_t>(reader.number("window", kCallWindowMax));
  STARLING_TRY(reader.finish());
  return message;
}

std::vector<std::uint8_t> encode(const Refusal& message) {
  return CborWriter(2)
      .field("reason", static_cast<std::uint64_t>(message.reason))
      .field("wait", static_cast<std::uint64_t>(message.wait_ms))
      .take();
}

Result<Refusal> decode_refusal(std::span<const std::uint8_t> cbor) {
  CborReader reader("refusal", cbor, 2);
  Refusal message;
  message.reason = static_cast<RefusalReason>(reader.number("reason", kRefusalReasonWords.size() - 1));
  message.wait_ms = static_cast<std::int64_t>(reader.number("wait", kCallBudgetMaxMs));
  STARLING_TRY(reader.finish());
  return message;
}

std::vector<std::uint8_t> encode(const Weights& message) {
  const std::vector<std::uint8_t> cells = packed<CellWord>(message.cells);
  const std::vector<std::uint8_t> samples = packed<SampleWord>(message.samples);
  return CborWriter(3)
      .field("round", static_cast<std::uint64_t>(message.round))
      .field("cells", std::span<const std::uint8_t>(cells))
      .field("samples", std::span<const std::uint8_t>(samples))
      .take();
}

Result<Weights> decode_weights(std::span<const std::uint8_t> cbor) {
  CborReader reader("weights", cbor, 3);
  Weights message;
  message.round = static_cast<RoundIndex>(reader.number("round", kCallRoundMax));
  const auto cells = reader.bytes("cells", kWeightsCellsMax * sizeof(CellWord));
  const auto samples = reader.bytes("samples", kWeightsCellsMax * sizeof(SampleWord));
  STARLING_TRY(reader.finish());
  STARLING_ASSIGN(message.cells, (unpacked<CellWord, std::int32_t>("cells", cells, 0, INT32_MAX)));
  STARLING_ASSIGN(message.samples, (unpacked<SampleWord, SampleCount>("samples", samples, 1, kWeightMax)));
  if (message.samples.size() != message.cells.size()) return wrong("samples", "has not one number for each cell");
  const bool ascending = std::ranges::adjacent_find(message.cells, std::greater_equal<>()) == message.cells.end();
  if (!ascending) return wrong("cells", "is not ascending");
  return message;
}

}  // namespace starling::wire
