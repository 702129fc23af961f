#include "shared/run/buckets.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::wire;

namespace {

ModelOptions gpt(int width, int layers) {
  ModelOptions model;
  model.architecture = Architecture::gpt;
  model.width = width;
  model.layers = layers;
  model.heads = 4;
  return model;
}

}  // namespace

TEST_CASE("buckets are whole tensors from the last to the first, none of them small but the last") {
  for (const ModelOptions& model : {gpt(64, 2), gpt(256, 4), gpt(768, 12)}) {
    CAPTURE(model.width);
    const std::vector<ParameterInfo> layout = model_layout(model);
    const std::vector<Bucket> cut = buckets(model);
    CHECK(cut.size() <= kBucketsMost);
    std::size_t end = parameter_count(model);
    for (std::size_t number = 0; number < cut.size(); ++number) {
      const Bucket& bucket = cut[number];
      CHECK(bucket.number == number);
      CHECK(bucket.begin + bucket.count == end);
      CHECK((bucket.count >= kBucketFloatsLeast || number + 1 == cut.size()));
      CHECK(std::any_of(layout.begin(), layout.end(), [&](const auto& info) { return info.offset == bucket.begin; }));
      end = bucket.begin;
    }
    CHECK(end == 0);
  }
  CHECK(buckets(gpt(64, 2)).size() == 1);
  CHECK(buckets(gpt(256, 4)).size() > 1);
}
