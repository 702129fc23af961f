#include "client/training/sampling.h"

#include <ATen/ATen.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdint>

#include "shared/base/permutation.h"

namespace starling::training {

namespace {

// Index of the byte at which the running sum of probabilities passes `point` (0..1).
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

}  // namespace

std::string continue_text(const models::Model& model, const wire::RunManifest& manifest, const SamplingOptions& options,
                          const at::Device& device) {
  const at::NoGradGuard no_grad;
  std::string text = options.prompt.empty() ? "\n" : options.prompt;  // the model needs a byte to go on from
  const std::size_t prompt_length = text.size();
  std::uint64_t random = mix64(manifest.seed ^ 0x73616d706c65ULL);
  for (int i = 0; i < options.length; ++i) {
    const std::size_t seen = std::min(text.size(), static_cast<std::size_t>(manifest.model.context));
    const at::Tensor tokens = at::empty({1, static_cast<std::int64_t>(seen)}, at::kLong);
    std::transform(text.end() - static_cast<std::ptrdiff_t>(seen), text.end(), tokens.data_ptr<std::int64_t>(),
                   [](char byte) { return static_cast<std::uint8_t>(byte); });
    random = mix64(random);
    const double point = static_cast<double>(random >> 11) * 0x1p-53;
    text.push_back(
        static_cast<char>(draw(model.next_word_scores(tokens.to(device))[-1].cpu(), options.temperature, point)));
  }
  return text.substr(prompt_length);
}

}  // namespace starling::training
