#include "client/models/causal_softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace starling::models;

namespace {

std::vector<float> scores_of(int context) {
  std::vector<float> scores(static_cast<std::size_t>(context) * context);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = 9 * std::sin(0.37F * static_cast<float>(i));
  return scores;
}

}  // namespace

TEST_CASE("each row becomes the softmax of what lies at and before its own place") {
  for (const int context : {1, 2, 17, 64, 100}) {
    const std::vector<float> scores = scores_of(context);
    std::vector<float> probability = scores;
    causal_softmax(probability.data(), context, 0.5F);
    for (int t = 0; t < context; ++t) {
      double sum = 0;
      for (int j = 0; j <= t; ++j) sum += std::exp(0.5 * scores[static_cast<std::size_t>(t * context + j)]);
      for (int j = 0; j < context; ++j) {
        const auto at = static_cast<std::size_t>(t * context + j);
        if (j > t) {
          REQUIRE(probability[at] == 0);
        } else {
          REQUIRE(probability[at] == doctest::Approx(std::exp(0.5 * scores[at]) / sum).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("far smaller scores get no weight, however far") {
  std::vector<float> scores = {0, 0, -1e30F, 1e30F};
  causal_softmax(scores.data(), 2, 1);
  CHECK(scores[2] == doctest::Approx(0));
  CHECK(scores[3] == doctest::Approx(1));
}

TEST_CASE("a score that is not a number is not hidden") {
  std::vector<float> scores = scores_of(32);
  scores[31 * 32 + 5] = std::numeric_limits<float>::quiet_NaN();
  causal_softmax(scores.data(), 32, 1);
  CHECK(std::isnan(scores[31 * 32 + 5]));
  CHECK(std::isfinite(scores[30 * 32 + 5]));
}
