// Self-attention over packed queries, keys and values.
#pragma once

#include <ATen/core/Tensor.h>

namespace starling::models {

// Heads of the queries, and of keys and values: each of these serves heads / kv_heads of the queries', one after the
// other (grouped-query attention, Ainslie et al., arXiv 2305.13245).
struct HeadCounts {
  int heads = 1;
  int kv_heads = 1;
  HeadCounts(int all) : heads(all), kv_heads(all) {}  // implicit: as many of each
  HeadCounts(int of_queries, int of_keys) : heads(of_queries), kv_heads(of_keys) {}
  [[nodiscard]] int packed() const { return heads + 2 * kv_heads; }
  [[nodiscard]] int group() const { return heads / kv_heads; }
};

// `qkv` [batch, context, packed · head width]: the heads of queries, keys and values side by side. Returns [batch,
// context, heads · head width]; position t attends to positions 0..t. Differentiable once. On the CPU (float) it is one
// fused pass per sequence and head; on other devices it is composed from tensor operations.
at::Tensor causal_attention(const at::Tensor& qkv, HeadCounts heads);

// causal_attention from plain tensor operations.
at::Tensor composed_causal_attention(const at::Tensor& qkv, HeadCounts heads);
// Attention in which every position attends to all.
at::Tensor full_attention(const at::Tensor& qkv, HeadCounts heads);

// Rotates queries and keys by angles that grow with the position (Su et al., RoFormer, 2021), so that attention scores
// depend on the distance between two positions. A head's width must be even.
at::Tensor with_rotary_positions(const at::Tensor& qkv, HeadCounts heads);

}  // namespace starling::models
