#include "client/daemon/cell_gradient.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "shared/run/cells.h"
#include "shared/run/model_layout.h"
#include "tests/client/trainer_link/decoder_run.h"

using namespace starling;
using namespace starling::daemon;

namespace {

// A cell whose holders' rounds average gradients.
struct Gathering {
  wire::RunManifest cell =
      wire::piece_of(trainer_link::testing::decoder_run("no program", wire::kTrunk, 4).manifest, 1);
  std::vector<float> state = std::vector<float>(wire::state_size(cell));
  std::vector<float> memory = std::vector<float>(wire::parameter_count(cell.model));
  std::vector<float> taken = memory;
  std::unique_ptr<CellGradient> gradient = make_cell_gradient(cell, {state, memory});

  void compute(float value) {
    for (float& each : memory) each += value;
    REQUIRE(gradient->add(0, 16).ok());
  }
  [[nodiscard]] bool has_taken(float value) const {
    return std::ranges::all_of(taken, [value](float each) { return each == value; });
  }
};

}  // namespace

TEST_CASE("gradients add up in the trainer's memory until callers say what they are of") {
  Gathering at;
  at.gradient->begin();
  at.compute(1);
  CHECK(*at.gradient->take(0, at.taken) == 0);
  CHECK(at.has_taken(0));
  at.compute(2);
  CHECK(*at.gradient->take(8, at.taken) == 8);
  CHECK(at.has_taken(3));
  CHECK(*at.gradient->take(8, at.taken) == 8);  // samples none of whose tokens came here
  CHECK(at.has_taken(3));
}

TEST_CASE("what a failed batch may have spoilt goes, and so does what is not finite") {
  Gathering at;
  at.gradient->begin();
  at.compute(1);
  at.memory[3] += 5;  // and then the trainer died
  at.gradient->spoil();
  at.compute(2);
  CHECK(*at.gradient->take(4, at.taken) == 4);
  CHECK(at.has_taken(2));
  at.compute(std::numeric_limits<float>::infinity());
  const auto refused = at.gradient->take(4, at.taken);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::corrupt);
  at.compute(1);
  CHECK(*at.gradient->take(4, at.taken) == 4);
  CHECK(at.has_taken(3));
  at.compute(7);
  at.gradient->begin();  // another state is in its place
  CHECK(*at.gradient->take(4, at.taken) == 4);
  CHECK(at.has_taken(3));
}
