#include "client/training/windows.h"

#include <ATen/ATen.h>
#include <torch/utils.h>

#include <algorithm>
#include <numbers>
#include <string>
#include <vector>

namespace starling::training {

namespace {

constexpr std::int64_t kEvaluationBatch = 16;  // windows at once

// `text` is long enough for length + 1 bytes from every start.
Windows windows_at(std::span<const std::uint8_t> text, std::span<const std::int64_t> starts, std::int64_t length) {
  const auto rows = static_cast<std::int64_t>(starts.size());
  Windows windows{at::empty({rows, length}, at::kLong), at::empty({rows, length}, at::kLong)};
  auto* tokens = windows.tokens.data_ptr<std::int64_t>();
  auto* targets = windows.targets.data_ptr<std::int64_t>();
  for (const std::int64_t start : starts) {
    const std::uint8_t* bytes = text.data() + start;
    tokens = std::copy(bytes, bytes + length, tokens);
    targets = std::copy(bytes + 1, bytes + length + 1, targets);
  }
  return windows;
}

Status check_range(const wire::RunManifest& manifest, const wire::SampleRange& range) {
  const bool fits = range.round >= 0 && range.lane >= 0 && range.lane < manifest.peers_max && range.first >= 0 &&
                    range.count >= 1 && range.count <= manifest.micro_batch_size;
  if (fits) return {};
  return Error{ErrorCode::invalid_argument,
               "train batch: round " + std::to_string(range.round) + ", lane " + std::to_string(range.lane) +
                   ", samples " + std::to_string(range.first) + "+" + std::to_string(range.count) +
                   ": the manifest has " + std::to_string(manifest.peers_max) + " lanes and micro-batches of at most " +
                   std::to_string(manifest.micro_batch_size)};
}

}  // namespace

Result<Windows> sample_windows(const wire::RunManifest& manifest, std::span<const std::uint8_t> text,
                               const wire::SampleRange& range) {
  STARLING_TRY(check_range(manifest, range));
  const std::int64_t space = wire::sample_space(static_cast<std::int64_t>(text.size()), manifest.model.context);
  const SeededPermutation shuffle = wire::round_permutation(manifest.seed, range.round, space);
  std::vector<std::int64_t> starts;
  for (SampleCount k = range.first; k < range.first + range.count; ++k) {
    const std::uint64_t position = wire::sample_position(range.lane, k, manifest.peers_max, space);
    starts.push_back(static_cast<std::int64_t>(shuffle.at(position)));
  }
  return windows_at(text, starts, manifest.model.context);
}

session::Evaluation evaluate_held_out(const models::Gpt& model, const wire::ModelOptions& options,
                                      std::span<const std::uint8_t> text) {
  const at::NoGradGuard no_grad;
  const auto last = static_cast<std::int64_t>(text.size()) - 1;  // bytes that have a next one
  const std::int64_t length = std::min<std::int64_t>(options.context, last);
  const std::int64_t scored = (length + 1) / 2;
  const std::int64_t places = (last - length) / scored + 1;
  const std::int64_t taken = std::min(places, std::max<std::int64_t>(1, kEvaluatedBytesMax / scored));
  double nats = 0;
  for (std::int64_t window = 0; window < taken; window += kEvaluationBatch) {
    std::vector<std::int64_t> starts;
    for (std::int64_t i = window; i < std::min(window + kEvaluationBatch, taken); ++i) {
      starts.push_back(i * places / taken * scored);
    }
    const Windows batch = windows_at(text, starts, length);
    const auto rows = static_cast<std::int64_t>(starts.size());
    const at::Tensor scores = model.logits(batch.tokens).view({rows, length, -1}).narrow(1, length - scored, scored);
    const at::Tensor targets = batch.targets.narrow(1, length - scored, scored);
    nats += at::cross_entropy_loss(scores.reshape({rows * scored, -1}), targets.reshape({-1}), /*weight=*/{},
                                   at::Reduction::Sum)
                .item<double>();
  }
  const std::int64_t bytes = taken * scored;
  return {nats / static_cast<double>(bytes) / std::numbers::ln2, bytes};
}

}  // namespace starling::training
