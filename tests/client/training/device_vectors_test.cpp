#include "client/training/device_vectors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "client/models/model.h"
#include "client/training/batches.h"
#include "shared/wire/model_layout.h"
// After torch, whose CHECK must give way.
#include <doctest/doctest.h>

using namespace starling;
using namespace starling::training;

namespace {

// A model on vectors of the caller's, or on copies of them: of all, as a device has, or of the parameters.
struct Place {
  Place(const wire::ModelOptions& model, Copies copies)
      : parameters(wire::parameter_count(model), 0.0F),
        gradient(parameters.size(), 7.0F),  // of an earlier batch
        vectors(at::Device(at::kCPU), copies, parameters, gradient),
        net(models::make_model(model, vectors.parameters(), vectors.gradient())) {}

  double compute(const models::Batch& batch) {
    vectors.upload();
    vectors.clear_gradient();
    const at::Tensor loss = net->loss(on_device(batch, at::kCPU));
    loss.backward();
    vectors.download_gradient();
    return loss.item<double>();
  }

  std::vector<float> parameters, gradient;
  DeviceVectors vectors;
  std::unique_ptr<models::Model> net;
};

}  // namespace

TEST_CASE("a model on copies computes what one on the caller's own memory does, after every change of it") {
  wire::ModelOptions model;
  model.layers = 2;
  model.width = 32;
  model.heads = 2;
  model.context = 12;
  Place here(model, Copies::none), there(model, Copies::all), beside(model, Copies::parameters);
  const at::Tensor words = at::arange(60, at::kLong).view({5, 12}) * 7 % 256;
  const models::Batch batch{words, (words + 1) % 256};
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < here.parameters.size(); ++i) {
      here.parameters[i] = there.parameters[i] = beside.parameters[i] =
          static_cast<float>((i * 37 + static_cast<std::size_t>(step)) % 101) / 500;
    }
    CHECK(here.compute(batch) == there.compute(batch));
    CHECK(here.gradient == there.gradient);
    CHECK(here.compute(batch) == beside.compute(batch));
    CHECK(here.gradient == beside.gradient);
    CHECK(std::any_of(there.gradient.begin(), there.gradient.end(), [](float value) { return value != 0; }));
  }
}
