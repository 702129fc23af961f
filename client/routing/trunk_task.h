// One segment of a trunk's micro-batch, as a caller's window (window.h) has it computed.
#pragma once

#include <cstdint>
#include <span>

#include "client/routing/weave.h"
#include "shared/run/training_data.h"

namespace starling::routing {

// A segment to compute. All spans lie in the tray, memory that caller and trainer share.
struct TrunkTask {
  Weave::Step step;
  wire::SampleRange samples;
  bool is_held_out = false;  // the samples are wire::held_out_windows, from `first` on
  // In place of samples: tokens of a text. At its end, the scores of the next token are written, [vocabulary].
  std::span<const std::int32_t> text{};
  std::span<float> scores{};
  // The answers with which it begins on its way forth; on its way back, the results are where their gradient is
  // written.
  std::span<const std::int32_t> experts{};  // [tokens, active]; below 0: nobody has answered
  std::span<const std::int32_t> places{};   // by unit: its place in `experts`
  std::span<float> results{};               // [units, width]
  // The question to the experts at its end, written on its way forth.
  std::span<float> inputs{};   // [tokens, width]
  std::span<float> outputs{};  // the gate's
  // On its way back: the gradient of the inputs.
  std::span<const float> inputs_gradient{};  // [tokens, width]
};

}  // namespace starling::routing
