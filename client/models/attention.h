// Self-attention over packed queries, keys and values.
#pragma once

#include <ATen/core/Tensor.h>

namespace starling::models {

// `qkv` [batch, context, 3 width]: queries, keys, values side by side, each split into heads. Returns [batch, context,
// width]; position t attends to positions 0..t. Differentiable once. On the CPU (float) it is one fused pass per
// sequence and head; on other devices it is composed from tensor operations.
at::Tensor causal_attention(const at::Tensor& qkv, int heads);

// causal_attention from plain tensor operations.
at::Tensor composed_causal_attention(const at::Tensor& qkv, int heads);
// Attention in which every position attends to all.
at::Tensor full_attention(const at::Tensor& qkv, int heads);

// Rotates queries and keys by angles that grow with the position (Su et al., RoFormer, 2021), so that attention scores
// depend on the distance between two positions. A head's width must be even.
at::Tensor with_rotary_positions(const at::Tensor& qkv, int heads);

}  // namespace starling::models
