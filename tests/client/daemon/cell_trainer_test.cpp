#include "client/daemon/cell_trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/state/initial_state.h"
#include "tests/client/trainer_link/decoder_run.h"

using namespace starling;
using namespace starling::daemon;

namespace {

constexpr wire::CellIndex kCell = 2;

wire::RunManifest cell_manifest() {
  return wire::piece_of(trainer_link::testing::decoder_run("no program", wire::kTrunk, 4).manifest, kCell);
}

// A cell to which callers bring `gradient` of `samples`.
struct Cell {
  Cell() : state(wire::state_size(manifest)), gradient(wire::parameter_count(manifest.model)) {}

  SampleCount gather(std::span<float> into) {
    if (samples > 0) std::transform(gradient.begin(), gradient.end(), into.begin(), into.begin(), std::plus<>());
    return std::exchange(samples, 0);
  }

  wire::RunManifest manifest = cell_manifest();
  std::vector<float> state;
  std::vector<float> gradient;
  SampleCount samples = 0;
  SystemClock clock;
  int stepped = 0;
  CellTrainer trainer{
      manifest, state, {[this](std::span<float> into) { return gather(into); }, [this] { ++stepped; }}, clock};
};

}  // namespace

TEST_CASE("a cell begins with the state that the project has signed") {
  Cell cell;
  CHECK(cell.trainer.layout().size() == cell.state.size());
  REQUIRE(cell.trainer.initialize().ok());
  std::vector<float> elsewhere(cell.state.size(), 1.0F);
  REQUIRE(cell.trainer.make_initial_state(elsewhere).ok());
  CHECK((elsewhere == cell.state));
  CHECK(state::initial_state_digest(cell.manifest) == cell.manifest.initial_state_digest);
}

TEST_CASE("a cell's steps are those of its optimizer, to the bit") {
  Cell cell;
  REQUIRE(cell.trainer.initialize().ok());
  std::vector<float> expected = cell.state;
  const optim::Optimizer optimizer(cell.manifest);
  const auto journal = std::make_unique<optim::StepJournal>();
  for (RoundIndex round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < cell.gradient.size(); ++i) {
      cell.gradient[i] = std::sin(static_cast<float>(i + static_cast<std::size_t>(round)));
    }
    REQUIRE(optimizer.step(round, cell.gradient, expected, *journal).ok());
    REQUIRE(cell.trainer.step(round, cell.gradient).ok());
    CHECK((cell.state == expected));
  }
  cell.gradient[7] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(cell.trainer.step(5, cell.gradient).ok());
  CHECK((cell.state == expected));
  // The step that failed may be tried again, and so may the one before, by a replica that went back.
  std::fill(cell.gradient.begin(), cell.gradient.end(), 0.5F);
  REQUIRE(cell.trainer.step(4, cell.gradient).ok());
  CHECK_FALSE((cell.state == expected));
}

TEST_CASE("a batch is what callers have brought, and there is none before") {
  Cell cell;
  std::vector<float> sum(cell.gradient.size(), 1.0F);
  const auto none = cell.trainer.train_batch({}, sum);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::failed_precondition);
  CHECK(sum.front() == 1.0F);
  std::fill(cell.gradient.begin(), cell.gradient.end(), 2.0F);
  cell.samples = 12;
  const auto batch = cell.trainer.train_batch({0, 0, 0, 4}, sum);
  REQUIRE(batch.ok());
  CHECK(batch->samples == 12);
  CHECK(batch->seconds >= 0);
  CHECK(sum.front() == 3.0F);
  CHECK_FALSE(cell.trainer.train_batch({}, sum).ok());
  CHECK(cell.trainer.evaluate().error().code == ErrorCode::unsupported);
}
