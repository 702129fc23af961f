#include "client/training/sampling.h"

#include <ATen/ATen.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdint>

#include "shared/base/permutation.h"
#include "shared/run/model_layout.h"

namespace starling::training {

namespace {

// The token at which the running sum of probabilities passes `point` (0..1).
int draw(const at::Tensor& scores, double temperature, double point) {
  if (temperature <= 0) return static_cast<int>(scores.argmax().item<std::int64_t>());
  const at::Tensor probability = at::softmax(scores.to(at::kDouble) / temperature, 0).contiguous();
  const auto* values = probability.data_ptr<double>();
  const auto count = static_cast<int>(probability.numel());
  for (int i = 0; i < count; ++i) {
    point -= values[i];
    if (point < 0) return i;
  }
  return count - 1;
}

// The first token, as the model needs one to continue: a line's end, or the mark between two texts.
int token_before_text(const wire::RunManifest& manifest) {
  return manifest.data.kind == wire::DataKind::bytes ? '\n' : wire::kStretchEnd;
}

}  // namespace

std::vector<int> continue_tokens(const models::Model& model, const wire::RunManifest& manifest,
                                 const SamplingOptions& options, const at::Device& device) {
  const at::NoGradGuard no_grad;
  std::vector<int> tokens(options.prompt.begin(), options.prompt.end());
  if (tokens.empty()) tokens.push_back(token_before_text(manifest));
  const auto begin = static_cast<std::ptrdiff_t>(tokens.size());
  std::uint64_t random = mix64(manifest.seed ^ 0x73616d706c65ULL);
  for (int i = 0; i < options.count; ++i) {
    const std::size_t seen = std::min(tokens.size(), static_cast<std::size_t>(manifest.model.context));
    const at::Tensor last = at::empty({1, static_cast<std::int64_t>(seen)}, at::kLong);
    std::copy(tokens.end() - static_cast<std::ptrdiff_t>(seen), tokens.end(), last.data_ptr<std::int64_t>());
    random = mix64(random);
    const double point = static_cast<double>(random >> 11) * 0x1p-53;
    tokens.push_back(draw(model.next_token_scores(last.to(device))[-1].cpu(), options.temperature, point));
  }
  return {tokens.begin() + begin, tokens.end()};
}

}  // namespace starling::training
