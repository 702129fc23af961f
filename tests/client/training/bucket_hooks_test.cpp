#include "client/training/bucket_hooks.h"

#include <ATen/ATen.h>

#include <vector>

// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

using namespace starling;
using namespace starling::training;

namespace {

// Tensors of two numbers each, one after the other in flat vectors.
struct Flat {
  explicit Flat(std::int64_t tensors) : values(at::ones(2 * tensors)), gradient(at::zeros(2 * tensors)) {
    for (std::int64_t k = 0; k < tensors; ++k) {
      at::Tensor view = values.narrow(0, 2 * k, 2).detach();
      view.requires_grad_(true);
      view.mutable_grad() = gradient.narrow(0, 2 * k, 2);
      leaves.push_back(view);
    }
  }
  at::Tensor values, gradient;
  std::vector<at::Tensor> leaves;
};

}  // namespace

TEST_CASE("a bucket is complete once, when the last use of its tensors has been gone back through") {
  Flat flat(4);
  const std::vector<wire::Bucket> buckets{{0, 4, 4}, {1, 0, 4}};
  const at::Tensor& first = flat.leaves[0];
  const at::Tensor& shared = flat.leaves[1];
  const at::Tensor& third = flat.leaves[2];
  const at::Tensor& last = flat.leaves[3];
  for (int batch = 1; batch <= 2; ++batch) {  // hooks are the graph's: the second batch has none of the first's
    const at::Tensor loss = (((first * shared + shared) * third * shared) * last).sum();
    std::vector<std::size_t> told;
    on_complete(loss, flat.gradient, buckets, [&](const wire::Bucket& bucket) {
      told.push_back(bucket.number);
      const float* gradient = flat.gradient.data_ptr<float>();
      if (bucket.number == 0) {
        CHECK(gradient[4] == 2 * batch);  // d loss / d third = (first · shared + shared) · shared · last
        CHECK(gradient[6] == 2 * batch);
        CHECK(gradient[0] == batch - 1);  // the backward pass has not come there yet
      } else {
        CHECK(gradient[0] == batch);
        CHECK(gradient[2] == 4 * batch);  // the sum over all three uses
      }
    });
    loss.backward();
    CHECK(told == std::vector<std::size_t>{0, 1});
  }
}

TEST_CASE("what the loss does not need is not waited for, and a bucket of nothing else is not told of") {
  Flat flat(3);
  const std::vector<wire::Bucket> buckets{{0, 4, 2}, {1, 0, 4}};
  const at::Tensor loss = flat.leaves[0].sum();
  std::vector<std::size_t> told;
  on_complete(loss, flat.gradient, buckets, [&](const wire::Bucket& bucket) { told.push_back(bucket.number); });
  loss.backward();
  CHECK(told == std::vector<std::size_t>{1});
}
