#include "shared/wire/model_layout.h"

#include <doctest/doctest.h>

#include <set>

using namespace starling::wire;

TEST_CASE("parameters fill the flat vector without gaps, each under a name of its own") {
  const ModelOptions model;
  std::size_t next = 0;
  std::set<std::string> names;
  for (const ParameterInfo& info : model_layout(model)) {
    CHECK(info.offset == next);
    std::size_t product = 1;
    for (const std::int64_t size : info.shape) product *= static_cast<std::size_t>(size);
    CHECK(info.count == product);
    CHECK(names.insert(info.name).second);
    next += info.count;
  }
  CHECK(parameter_count(model) == next);
}

TEST_CASE("weight decay takes matrices and spares norms and biases") {
  for (const ParameterInfo& info : model_layout(ModelOptions{})) {
    CHECK_MESSAGE(info.decayed == (info.shape.size() == 2), info.name);
  }
}

TEST_CASE("the cost of a sample grows with layers, with the square of the width, and with the context") {
  ModelOptions model;
  model.layers = 4;
  model.width = 128;
  model.context = 128;
  const double base = flops_per_sample(model);
  // Six operations a weight and byte, as the rule of thumb has it, plus the attention's squares.
  const double weights = 4 * 12 * 128.0 * 128 + 256 * 128;
  CHECK(base == doctest::Approx(128 * (6 * weights + 4 * 12 * 128.0 * 128)));
  ModelOptions deeper = model;
  deeper.layers = 8;
  CHECK(flops_per_sample(deeper) > 1.8 * base);
  ModelOptions wider = model;
  wider.width = 256;
  CHECK(flops_per_sample(wider) > 3 * base);
  ModelOptions longer = model;
  longer.context = 256;
  CHECK(flops_per_sample(longer) > 2 * base);
}
