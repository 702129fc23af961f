#include "client/training/sampling.h"

#include <ATen/ATen.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdint>

#include "client/session/token_draw.h"

namespace starling::training {

std::vector<int> continue_tokens(const models::Model& model, const wire::RunManifest& manifest,
                                 const SamplingOptions& options, const at::Device& device) {
  const at::NoGradGuard no_grad;
  std::vector<int> tokens(options.prompt.begin(), options.prompt.end());
  if (tokens.empty()) tokens.push_back(session::token_before_text(manifest));
  const auto begin = static_cast<std::ptrdiff_t>(tokens.size());
  session::TokenDraw draw(manifest);
  for (int i = 0; i < options.count; ++i) {
    const std::size_t seen = std::min(tokens.size(), static_cast<std::size_t>(manifest.model.context));
    const at::Tensor last = at::empty({1, static_cast<std::int64_t>(seen)}, at::kLong);
    std::copy(tokens.end() - static_cast<std::ptrdiff_t>(seen), tokens.end(), last.data_ptr<std::int64_t>());
    const at::Tensor scores = model.next_token_scores(last.to(device))[-1].to(at::kCPU, at::kFloat).contiguous();
    tokens.push_back(
        draw.draw({scores.data_ptr<float>(), static_cast<std::size_t>(scores.numel())}, options.temperature));
  }
  return {tokens.begin() + begin, tokens.end()};
}

}  // namespace starling::training
