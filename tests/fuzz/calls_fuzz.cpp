#include "shared/wire/calls.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "shared/base/verify.h"
#include "shared/wire/limits.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using namespace starling::wire;

namespace {

using Bytes = std::span<const std::uint8_t>;

// Every message has exactly one form: accepted bytes equal those that encode writes.
template <typename Message>
void check_form(const Result<Message>& message, Bytes bytes) {
  if (message.ok()) VERIFY(std::ranges::equal(encode(*message), bytes));
}

// A receiver sets memory aside, and indexes rows, by these.
void check_call(Bytes bytes) {
  const Result<Call> call = decode_call(bytes);
  check_form(call, bytes);
  if (!call.ok()) return;
  const std::size_t units = call->rows.size();
  VERIFY(units >= 1 && units <= kCallUnitsMax);
  VERIFY(!call->counts.empty() && call->counts.size() <= kCellExpertsMax);
  VERIFY(std::ranges::all_of(call->counts, [](std::int32_t count) { return count >= 0; }));
  VERIFY(std::cmp_equal(std::accumulate(call->counts.begin(), call->counts.end(), std::int64_t{0}), units));
  VERIFY(call->inputs >= 1 && std::cmp_less_equal(call->inputs, units));
  VERIFY(std::ranges::all_of(call->rows, [&](std::int32_t row) { return row >= 0 && row < call->inputs; }));
  VERIFY(call->is_back || !call->kept);
  const std::size_t floats = call_floats(*call, 4096);
  VERIFY(floats >= 4096 && floats <= 2 * kCallUnitsMax * 4096);
  VERIFY(answer_floats(*call, 4096) <= kCallUnitsMax * 4096);
}

void check_weights(Bytes bytes) {
  const Result<Weights> weights = decode_weights(bytes);
  check_form(weights, bytes);
  if (!weights.ok()) return;
  VERIFY(weights->cells.size() == weights->samples.size() && weights->cells.size() <= kWeightsCellsMax);
  VERIFY(std::ranges::is_sorted(weights->cells));
  VERIFY(std::ranges::all_of(weights->samples, [](SampleCount n) { return n >= 1 && n <= kWeightMax; }));
}

}  // namespace

// The first byte selects how the rest is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check_call(bytes);
      break;
    case 1:
      check_form(decode_answer(bytes), bytes);
      break;
    case 2:
      check_form(decode_refusal(bytes), bytes);
      break;
    default:
      check_weights(bytes);
  }
  return 0;
}
