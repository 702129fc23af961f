#include "client/optim/initial_state.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/wire/model_layout.h"

using namespace starling;
using namespace starling::optim;

namespace {

std::vector<float> initial_state(std::uint64_t seed) {
  wire::RunManifest manifest;
  manifest.seed = seed;
  std::vector<float> state(Optimizer(manifest).state_size(), 1e9F);
  fill_initial_state(manifest, state);
  return state;
}

}  // namespace

TEST_CASE("matrices start uniform within their bound, norms at one, biases and moments at zero") {
  const std::vector<float> state = initial_state(1);
  const wire::RunManifest manifest;
  for (const wire::ParameterInfo& info : wire::model_layout(manifest.model)) {
    const auto begin = state.begin() + static_cast<std::ptrdiff_t>(info.offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(info.count);
    const auto [least, most] = std::minmax_element(begin, end);
    if (info.initial_bound == 0) {
      CHECK(*least == info.initial_value);
      CHECK(*most == info.initial_value);
      continue;
    }
    CHECK(*least >= -info.initial_bound);
    CHECK(*most < info.initial_bound);
    double sum = 0, squares = 0;
    std::for_each(begin, end, [&](double value) { sum += value, squares += value * value; });
    const auto count = static_cast<double>(info.count);
    CHECK(std::abs(sum / count) < 0.05 * info.initial_bound);
    CHECK(squares / count == doctest::Approx(info.initial_bound * info.initial_bound / 3).epsilon(0.05));
  }
  const auto parameters = static_cast<std::ptrdiff_t>(wire::parameter_count(manifest.model));
  CHECK(std::all_of(state.begin() + parameters, state.end(), [](float value) { return value == 0; }));
}

TEST_CASE("one seed gives one state, two seeds give two") {
  CHECK(initial_state(1) == initial_state(1));
  CHECK(initial_state(1) != initial_state(2));
}
