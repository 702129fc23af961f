// The tokens with which a model continues a text, drawn from its scores. Equal for equal model, manifest and scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/permutation.h"
#include "shared/run/model_layout.h"
#include "shared/run/run_manifest.h"

namespace starling::session {

// The first token, as the model needs one to continue: a line's end, or the mark between two texts.
inline int token_before_text(const wire::RunManifest& manifest) {
  return manifest.data.kind == wire::DataKind::bytes ? '\n' : wire::kStretchEnd;
}

class TokenDraw {
 public:
  explicit TokenDraw(const wire::RunManifest& manifest) : random_(mix64(manifest.seed ^ 0x73616d706c65ULL)) {}

  // scores: of all tokens, not normalised, at least one. temperature 0: the likeliest token.
  int draw(std::span<const float> scores, double temperature) {
    random_ = mix64(random_);
    const auto best = std::max_element(scores.begin(), scores.end());
    if (temperature <= 0) return static_cast<int>(best - scores.begin());
    std::vector<double> likelihoods;
    likelihoods.reserve(scores.size());
    double all = 0;
    for (const float score : scores) {
      likelihoods.push_back(std::exp((static_cast<double>(score) - *best) / temperature));
      all += likelihoods.back();
    }
    double point = static_cast<double>(random_ >> 11) * 0x1p-53 * all;
    for (std::size_t i = 0; i + 1 < likelihoods.size(); ++i) {
      point -= likelihoods[i];
      if (point < 0) return static_cast<int>(i);
    }
    return static_cast<int>(scores.size()) - 1;
  }

 private:
  std::uint64_t random_;
};

}  // namespace starling::session
