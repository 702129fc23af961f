// Self-attention over packed queries, keys and values.
#pragma once

#include <ATen/core/Tensor.h>

namespace starling::models {

// `qkv` [batch, context, 3 width]: queries, keys, values side by side, each split into heads. Returns
// [batch, context, width]; position t attends to positions 0..t. Differentiable once. On the CPU (float)
// one fused pass per sequence and head; elsewhere composed from tensor operations.
at::Tensor causal_attention(const at::Tensor& qkv, int heads);

// The same from plain tensor operations.
at::Tensor composed_causal_attention(const at::Tensor& qkv, int heads);
// The same where every position attends to all.
at::Tensor full_attention(const at::Tensor& qkv, int heads);

// Queries and keys turned by angles that grow with the position (Su et al., RoFormer, 2021): what attention then sees
// of two positions is how far they lie apart. A head's width must be even.
at::Tensor with_rotary_positions(const at::Tensor& qkv, int heads);

}  // namespace starling::models
