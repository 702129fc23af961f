#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/files.h"
#include "shared/swarm/random_stream.h"
#include "tests/sim/cells_model.h"
#include "tests/sim/emulated_cells.h"
#include "tests/sim/fashion.h"
#include "tests/support/skip.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::sim;

namespace {

// A model of a few units, and a picture for it.
struct SmallModel {
  SmallModel() {
    shape.layers = 2;
    shape.grid = {2, 3};
    shape.active = 3;
    shape.width = 8;
    shape.hidden = 12;
    swarm::RandomStream random(5);
    trunk.resize(shape.trunk_parameters());
    draw_trunk(shape, random, trunk);
    experts.assign(shape.layers,
                   std::vector<std::vector<float>>(shape.experts(), std::vector<float>(shape.expert_parameters())));
    for (auto& layer : experts) {
      for (std::vector<float>& expert : layer) draw_expert(shape, random, expert);
    }
    trunk_gradient.resize(trunk.size());
    gradients = experts;
    for (float& pixel : pixels) pixel = static_cast<float>(2 * random.uniform() - 1);
    // Scores far enough apart that no small step changes the choice.
    const std::size_t gates = shape.width * (kFashionPixels + 1);
    for (std::size_t i = gates; i < gates + shape.layers * shape.grid.scores() * shape.width; ++i) trunk[i] *= 2;
  }

  // Returns the loss; fills the gradients.
  double compute() {
    std::fill(trunk_gradient.begin(), trunk_gradient.end(), 0.0F);
    for (auto& layer : gradients) {
      for (std::vector<float>& gradient : layer) std::fill(gradient.begin(), gradient.end(), 0.0F);
    }
    PictureWay way(shape);
    way.begin(trunk, pixels);
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
      way.choose(trunk, layer, held);
      way.forward(layer, experts[layer]);
    }
    const double loss = way.end(trunk, 3, trunk_gradient);
    for (std::size_t layer = shape.layers; layer-- > 0;) {
      way.backward(layer, trunk, experts[layer], trunk_gradient, gradients[layer]);
    }
    way.finish(pixels, trunk_gradient);
    return loss;
  }

  // The change of the loss along the gradient of a piece of the parameters, over that gradient's length: 1 where the
  // gradient is right. None where that length is too small to tell.
  std::optional<double> change_along(std::span<float> parameters, std::span<const float> gradient) {
    const double length = std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
    if (length < 5e-3) return {};  // below that the loss has too few digits
    const std::vector<float> direction(gradient.begin(), gradient.end()), before(parameters.begin(), parameters.end());
    const auto loss_at = [&](double step) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i] = before[i] + static_cast<float>(step * direction[i] / length);
      }
      return compute();
    };
    constexpr double kStep = 5e-4;  // too little for any unit to cross the rectifier
    const double change = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    loss_at(0);
    return change / length;
  }

  CellsShape shape;
  std::vector<float> trunk, trunk_gradient;
  std::vector<std::vector<std::vector<float>>> experts, gradients;
  std::vector<bool> held{true, true, false, true, true, true};
  std::vector<float> pixels = std::vector<float>(kFashionPixels);
};

// Checks the gradient piece by piece, so that no part of it hides behind a longer one. Returns how many pieces count.
int check_pieces(SmallModel& model, std::span<float> parameters, std::span<const float> gradient) {
  constexpr std::size_t kPiece = 48;
  int checked = 0;
  for (std::size_t begin = 0; begin < parameters.size(); begin += kPiece) {
    const std::size_t size = std::min(kPiece, parameters.size() - begin);
    const auto change = model.change_along(parameters.subspan(begin, size), gradient.subspan(begin, size));
    if (!change) continue;
    CAPTURE(begin);
    CHECK(*change == doctest::Approx(1).epsilon(0.03));
    ++checked;
  }
  return checked;
}

// Skips the test where the package is not installed.
Fashion fashion() {
  Result<Fashion> data = read_fashion();
  if (!data.ok() && data.error().code == ErrorCode::not_found) testing::skip(data.error().message);
  return std::move(data).value();
}

// A layer of one expert, twice as wide.
CellsShape doubled(CellsShape shape) {
  shape.grid = {1, 1};
  shape.active = 1;
  shape.width *= 2;
  shape.hidden *= 2;
  return shape;
}

CellsSetup short_setup(double delay_ms, double failures) {
  CellsSetup setup;
  setup.delay_ms = delay_ms;
  setup.failures = failures;
  setup.updates = 1024;
  setup.evaluated = 2000;
  return setup;
}

}  // namespace

TEST_CASE("the gradient of a model of experts is its loss's derivative") {
  SmallModel model;
  model.compute();
  CHECK(check_pieces(model, model.trunk, model.trunk_gradient) > 100);
  int checked = 0;
  for (std::size_t layer = 0; layer < model.shape.layers; ++layer) {
    for (std::size_t e = 0; e < model.shape.experts(); ++e) {
      checked += check_pieces(model, model.experts[layer][e], model.gradients[layer][e]);
    }
  }
  CHECK(checked > 6 * 3);  // three experts in each of two layers
}

TEST_CASE("an expert that does not answer is not chosen, and has no gradient") {
  SmallModel model;
  model.held.assign(6, false);
  model.held[4] = true;
  model.compute();
  for (std::size_t e = 0; e < 6; ++e) {
    const std::vector<float>& gradient = model.gradients[0][e];
    const bool has_gradient = std::ranges::any_of(gradient, [](float value) { return value != 0; });
    CHECK(has_gradient == (e == 4));
  }
}

TEST_CASE("a dense model has the operations of a model of experts, give or take a fifth") {
  const CellsShape experts, dense = doubled(experts);
  const double ratio = static_cast<double>(dense.multiplications()) / static_cast<double>(experts.multiplications());
  CHECK(ratio > 1);
  CHECK(ratio < 1.2);
}

TEST_CASE("a missing file names the package that brings it") {
  const Result<Fashion> missing = read_fashion("/nonexistent");
  REQUIRE(!missing.ok());
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message.find("dataset-fashion-mnist") != std::string::npos);
}

TEST_CASE("a file that is no Fashion-MNIST is refused") {
  const testing::TempDir folder;
  REQUIRE(write_file_atomically(folder / "train-images-idx3-ubyte.gz", "neither gzip nor pictures").ok());
  const Result<Fashion> damaged = read_fashion(folder.path());
  REQUIRE(!damaged.ok());
  CHECK(damaged.error().code == ErrorCode::corrupt);
}

TEST_CASE("gradients are as old as callers have steps under way, and not without delay; equal seeds, equal results") {
  const Fashion data = fashion();
  CellsSetup setup = short_setup(0, 0);
  setup.updates = 256;
  setup.evaluated = 100;
  const Result<CellsResult> calm = train_cells(setup, data, 1);
  REQUIRE(calm.ok());
  CHECK(calm->trunk_staleness == 0);
  CHECK(calm->expert_staleness == 0);
  setup.delay_ms = kComputingMs;
  const Result<CellsResult> delayed = train_cells(setup, data, 1);
  REQUIRE(delayed.ok());
  CHECK(delayed->trunk_staleness > 25);
  CHECK(delayed->trunk_staleness < 40);
  CHECK(delayed->expert_staleness > 0.2);
  CHECK(delayed->expert_staleness < 2);
  CHECK(train_cells(setup, data, 1)->accuracies == delayed->accuracies);
  CHECK(train_cells(setup, data, 2)->accuracies != delayed->accuracies);
}

TEST_CASE("delay and failures cost experts much less than a delay costs a dense model") {
  const Fashion data = fashion();
  const CellsResult calm = *train_cells(short_setup(0, 0), data, 1);
  const CellsResult failing = *train_cells(short_setup(kComputingMs, 0.1), data, 1);
  CellsSetup dense = short_setup(kComputingMs, 0);
  dense.is_dense = true;
  dense.shape = doubled(dense.shape);
  const CellsResult delayed_dense = *train_cells(dense, data, 1);
  // So few updates that the end has not come: the mean of six seeds is 0.03 in the end, and 0.27 at a quarter, with
  // deviations of 0.008 and 0.05.
  CHECK(failing.at_end > calm.at_end - 0.07);
  CHECK(delayed_dense.at_quarter < failing.at_quarter - 0.06);
}
