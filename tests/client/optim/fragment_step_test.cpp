#include "client/optim/fragment_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/optim/step_journal.h"
#include "shared/base/words.h"
#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"
#include "tests/client/optim/noise.h"

using namespace starling;
using namespace starling::optim;
using starling::optim::testing::noise;

namespace {

wire::RunManifest manifest_of(wire::OptimizerKind kind, int fragments) {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 16, .heads = 2, .context = 8};
  manifest.optimizer = wire::default_optimizer(kind);
  manifest.optimizer.weight_decay = 0.1;  // for matrices alone, wherever fragments cut them
  manifest.optimizer.clip_norm = 0;       // a norm would be that of a fragment
  manifest.schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = 0.01, .warmup_rounds = 0};
  manifest.round.delay_parameter_updates = true;
  manifest.local.emplace().fragments = fragments;
  return manifest;
}

}  // namespace

TEST_CASE("a round of each fragment is a step of the whole, to the bit") {
  for (const wire::OptimizerKind kind : {wire::OptimizerKind::sgd, wire::OptimizerKind::adamw}) {
    for (const int fragments : {1, 3, 7}) {
      CAPTURE(word_of(kind));
      CAPTURE(fragments);
      const wire::RunManifest manifest = manifest_of(kind, fragments);
      const Optimizer optimizer(manifest);
      std::vector<float> whole(optimizer.state_size());
      const std::vector<float> begin = noise(optimizer.parameter_count(), 1);
      std::copy(begin.begin(), begin.end(), whole.begin());
      std::vector<float> in_turn = whole;
      const auto journal = std::make_unique<StepJournal>();
      for (RoundIndex step = 0; step < 3; ++step) {
        const std::vector<float> gradient = noise(optimizer.parameter_count(), 2 + static_cast<std::uint64_t>(step));
        REQUIRE(optimizer.step(step, gradient, whole, *journal).ok());
        for (int i = 0; i < fragments; ++i) {
          const RoundIndex round = step * fragments + i;
          const wire::Fragment fragment = wire::fragment_of(manifest, round);
          std::vector<float> average(wire::fragment_floats(manifest));
          const auto own = std::span(gradient).subspan(fragment.begin, fragment.count);
          std::copy(own.begin(), own.end(), average.begin());
          REQUIRE(step_fragment(manifest, round, average, in_turn).ok());
        }
        CHECK(in_turn == whole);
      }
    }
  }
}

TEST_CASE("an average that is not finite leaves the state as it is") {
  const wire::RunManifest manifest = manifest_of(wire::OptimizerKind::sgd, 3);
  std::vector<float> state = noise(wire::state_size(manifest), 1);
  const std::vector<float> before = state;
  std::vector<float> average(wire::fragment_floats(manifest));
  average[5] = std::numeric_limits<float>::infinity();
  CHECK(step_fragment(manifest, 1, average, state).error().code == ErrorCode::corrupt);
  CHECK(state == before);
}
