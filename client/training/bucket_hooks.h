// Reports, during a backward pass through a model, buckets whose gradients are complete.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>

#include "shared/run/buckets.h"

namespace starling::training {

// Makes the next loss.backward() call `complete` for each bucket once nothing more will be added to the gradients of
// its tensors, and their values will not be read again. The call comes on any thread; backward() throws its exceptions.
// It does not come for a bucket if the loss uses none of its tensors. gradient: the flat vector that the tensors'
// gradients are views of.
void on_complete(const at::Tensor& loss, const at::Tensor& gradient, std::span<const wire::Bucket> buckets,
                 std::function<void(const wire::Bucket&)> complete);

}  // namespace starling::training
