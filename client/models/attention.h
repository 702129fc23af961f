// Causal self-attention over packed queries, keys and values.
#pragma once

#include <ATen/core/Tensor.h>

namespace starling::models {

// `qkv` [batch, context, 3 width]: queries, keys, values side by side, each split into heads. Returns
// [batch, context, width]; position t attends to positions 0..t. Differentiable once. On the CPU (float)
// one fused pass per sequence and head; elsewhere composed from tensor operations.
at::Tensor causal_attention(const at::Tensor& qkv, int heads);

// The same from plain tensor operations.
at::Tensor composed_causal_attention(const at::Tensor& qkv, int heads);

}  // namespace starling::models
