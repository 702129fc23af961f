// Tells, while a way back through a model is under way, of which buckets it has completed the gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>

#include "shared/wire/buckets.h"

namespace starling::training {

// In the next loss.backward() `complete` is called for each bucket once nothing more will be added to the gradients of
// its tensors, nor will their values be read, on whatever thread that is at; what it throws, backward() throws. A
// bucket of which the loss needs no tensor is not told of. gradient: the flat vector that tensors' gradients are views
// of.
void on_complete(const at::Tensor& loss, const at::Tensor& gradient, std::span<const wire::Bucket> buckets,
                 std::function<void(const wire::Bucket&)> complete);

}  // namespace starling::training
