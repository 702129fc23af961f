// Text to tensors: the samples of a batch, and the windows of an evaluation.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "client/models/gpt.h"
#include "client/session/trainer.h"
#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"
#include "shared/wire/training_data.h"

namespace starling::training {

// Bytes that an evaluation predicts at most: half a second's work for a small model on one core.
constexpr std::int64_t kEvaluatedBytesMax = 16 * 1024;

// Each row a window of bytes, and the same window one byte later.
struct Windows {
  at::Tensor tokens;
  at::Tensor targets;
};

// The samples of `range`. invalid_argument for a lane, round or count that the manifest does not allow.
Result<Windows> sample_windows(const wire::RunManifest& manifest, std::span<const std::uint8_t> text,
                               const wire::SampleRange& range);

// Mean bits per byte of `text` in windows of `context` bytes that overlap by half: only a window's second half
// is scored, so every byte is predicted from at least half a context. Of a long text, windows spread evenly
// over it. The same windows every time.
session::Evaluation evaluate_held_out(const models::Gpt& model, const wire::ModelOptions& options,
                                      std::span<const std::uint8_t> text);

}  // namespace starling::training
