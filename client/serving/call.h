// A call to experts as their holder sees it. A *call* is one way, forth or back, of some units through one cell; a unit
// is a token at one expert of it. On the way forth a caller sends inputs and gets results. On the way back it sends the
// gradient of the results (upstream), and the inputs again unless the holder has kept them, and gets the gradient of
// the inputs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/cells.h"

namespace starling::serving {

// Names a call. The id is the caller's choice, and new for each call.
struct CallKey {
  PeerId caller;
  Hash128 id;
  friend auto operator<=>(const CallKey&, const CallKey&) = default;
};

// The head of a call, which comes before its values.
struct Call {
  CallKey key;
  wire::CellIndex cell = 0;
  bool is_back = false;
  RoundIndex round = 0;                // the cell's state is of this round, or a later one
  std::vector<std::int32_t> counts{};  // units, by expert of the cell
  std::vector<std::int32_t> rows{};    // by unit, in the order of experts: its row of the inputs
  std::int32_t inputs = 0;             // rows of the inputs, each of which some unit names
  Duration budget{};                   // the answer is of use within this time
  std::optional<Hash128> kept{};       // on the way back: the caller's call forth whose inputs the holder has kept
  [[nodiscard]] std::int64_t units() const { return static_cast<std::int64_t>(rows.size()); }
};

// The reason why a call is not computed now, or never.
struct Refusal {
  enum class Reason : std::uint8_t {
    busy,       // it would not be computed within its budget, or there is no memory for it
    stepping,   // the cell's state is older than the caller's
    not_held,   // the cell is not here
    forgotten,  // the inputs are not here any more: they have to come again
    paused,     // the computer's owner has paused
    invalid,    // breach of protocol: the caller's link is to be cut
  };
  Reason reason = Reason::busy;
  Duration wait{};                                // busy, stepping: a call has no chance before
  Error breach{ErrorCode::invalid_argument, {}};  // invalid: what is wrong with the call
};

// The answer to the head of a call.
struct Admission {
  std::optional<Refusal> refusal;  // nothing: the call is accepted
  std::size_t floats = 0;          // accepted: values that have to come
};

}  // namespace starling::serving
