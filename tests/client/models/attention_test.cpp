#include "client/models/attention.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <array>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

using namespace starling::models;

namespace {

at::Tensor random(at::IntArrayRef shape) {
  return at::randn(shape, at::detail::createCPUGenerator(5), at::TensorOptions(at::kFloat));
}

struct Outcome {
  at::Tensor output;
  at::Tensor gradient;
};

template <typename Attention>
Outcome run(const at::Tensor& qkv, HeadCounts heads, Attention attention) {
  const at::Tensor input = qkv.clone().requires_grad_(true);
  const at::Tensor output = attention(input, heads);
  (output * output.sin()).sum().backward();
  return {output.detach(), input.grad()};
}

}  // namespace

TEST_CASE("fused attention has the values and gradients of the plain tensor operations") {
  for (const auto& [batch, context, width, heads] :
       {std::array{1, 1, 8, 1}, std::array{2, 5, 8, 2}, std::array{3, 64, 48, 3}}) {
    const at::Tensor qkv = random({batch, context, 3 * width});
    const Outcome fused = run(qkv, heads, causal_attention);
    const Outcome composed = run(qkv, heads, composed_causal_attention);
    CHECK(at::allclose(fused.output, composed.output, 1e-4, 1e-5));
    CHECK(at::allclose(fused.gradient, composed.gradient, 1e-4, 1e-5));
  }
}

TEST_CASE("heads of keys and values that serve several of the queries' are like that many equal ones") {
  for (const HeadCounts heads : {HeadCounts(4, 2), HeadCounts(6, 1), HeadCounts(3, 3)}) {
    constexpr std::int64_t kHeadWidth = 8;
    const at::Tensor qkv = random({2, 17, heads.packed() * kHeadWidth});
    const Outcome fused = run(qkv, heads, causal_attention);
    const Outcome composed = run(qkv, heads, composed_causal_attention);
    CHECK(at::allclose(fused.output, composed.output, 1e-4, 1e-5));
    CHECK(at::allclose(fused.gradient, composed.gradient, 1e-4, 1e-5));
    const at::Tensor parts = qkv.view({2, 17, heads.packed(), kHeadWidth});
    const auto repeated = [&](int first) {
      return parts.narrow(2, first, heads.kv_heads).repeat_interleave(heads.group(), 2);
    };
    const at::Tensor all =
        at::cat({parts.narrow(2, 0, heads.heads), repeated(heads.heads), repeated(heads.heads + heads.kv_heads)}, 2);
    const at::Tensor equal = causal_attention(all.reshape({2, 17, -1}), heads.heads);
    CHECK(at::allclose(fused.output, equal, 1e-5, 1e-6));
    const at::Tensor turned = with_rotary_positions(qkv, heads).view_as(parts);
    CHECK(at::equal(turned.narrow(2, heads.heads + heads.kv_heads, heads.kv_heads),
                    parts.narrow(2, heads.heads + heads.kv_heads, heads.kv_heads)));
    CHECK(at::equal(turned.select(1, 0), parts.select(1, 0)));  // the first position is not turned
    CHECK_FALSE(at::allclose(turned.select(1, 9).narrow(1, 0, heads.heads + heads.kv_heads),
                             parts.select(1, 9).narrow(1, 0, heads.heads + heads.kv_heads), 1e-2, 1e-2));
  }
}

TEST_CASE("no position sees what comes after it") {
  const at::Tensor qkv = random({1, 16, 24});
  at::Tensor changed = qkv.clone();
  changed.narrow(1, 9, 7).add_(1);
  const at::Tensor before = causal_attention(qkv, 2);
  const at::Tensor after = causal_attention(changed, 2);
  CHECK(at::allclose(before.narrow(1, 0, 9), after.narrow(1, 0, 9), 1e-5, 1e-6));
  CHECK(!at::allclose(before.narrow(1, 9, 7), after.narrow(1, 9, 7), 1e-5, 1e-6));
}

TEST_CASE("turned queries and keys see of each other how far they lie apart, and nothing else") {
  const int heads = 2, width = 12;
  const at::Tensor qkv = random({1, 1, 3 * width}).expand({1, 10, 3 * width}).contiguous();
  const at::Tensor turned = with_rotary_positions(qkv, heads).view({10, 3, heads, width / heads});
  CHECK(at::equal(turned.select(1, 2), qkv.view({10, 3, heads, width / heads}).select(1, 2)));  // values stay unchanged
  for (int head = 0; head < heads; ++head) {
    const at::Tensor scores = at::mm(turned.select(1, 0).select(1, head), turned.select(1, 1).select(1, head).t());
    for (int apart = -9; apart <= 9; ++apart) {
      const at::Tensor alike = scores.diagonal(apart);
      CHECK(at::allclose(alike, alike[0].expand_as(alike), 1e-4, 1e-5));
    }
    CHECK(!at::allclose(scores[0], scores[0][0].expand({10}), 1e-2, 1e-2));
  }
}

TEST_CASE("where everything is seen, the first position depends on the last") {
  const at::Tensor qkv = random({1, 16, 24});
  at::Tensor changed = qkv.clone();
  changed.narrow(1, 15, 1).add_(1);
  CHECK(!at::allclose(full_attention(qkv, 2)[0][0], full_attention(changed, 2)[0][0], 1e-5, 1e-6));
}
