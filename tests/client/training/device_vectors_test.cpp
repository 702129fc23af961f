#include "client/training/device_vectors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "client/models/model.h"
#include "client/training/batches.h"
#include "shared/run/model_layout.h"
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

using namespace starling;
using namespace starling::training;

namespace {

// A model on the caller's vectors, or on copies of them: copies of all, as on a device, or of the parameters only.
struct Place {
  Place(const wire::ModelOptions& model, Copies copies)
      : parameters(wire::parameter_count(model), 0.0F),
        gradient(parameters.size(), 7.0F),  // left over from an earlier batch
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
  const at::Tensor tokens = at::arange(60, at::kLong).view({5, 12}) * 7 % 256;
  const models::Batch batch{tokens, (tokens + 1) % 256};
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

TEST_CASE("a model on copies computes with other parameters until it sees the caller's again") {
  wire::ModelOptions model;
  model.layers = 1;
  model.width = 16;
  model.heads = 2;
  model.context = 12;
  for (const Copies copies : {Copies::all, Copies::parameters}) {
    Place place(model, copies);
    std::fill(place.parameters.begin(), place.parameters.end(), 0.125F);
    place.vectors.upload();
    const auto fill = [](std::span<float> parameters) -> Status {
      std::fill(parameters.begin(), parameters.end(), 0.25F);
      return {};
    };
    CHECK(place.vectors.upload_from(fill).ok());
    CHECK(place.vectors.parameters().eq(0.25F).all().item<bool>());
    const auto refuse = [](std::span<float>) -> Status { return Error{ErrorCode::corrupt, "no"}; };
    CHECK_FALSE(place.vectors.upload_from(refuse).ok());
    CHECK(place.vectors.parameters().eq(0.25F).all().item<bool>());
    place.vectors.upload();
    CHECK(place.vectors.parameters().eq(0.125F).all().item<bool>());
  }
}
