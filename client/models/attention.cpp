#include "client/models/attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <vector>

#include "client/models/causal_softmax.h"
#include "client/models/matrix.h"

namespace starling::models {

namespace {

// Sizes of one call, and the offsets of its heads in memory.
struct Shape {
  int batch, context, width, heads, head_width;

  Shape(const at::Tensor& qkv, int head_count)
      : batch(static_cast<int>(qkv.size(0))),
        context(static_cast<int>(qkv.size(1))),
        width(static_cast<int>(qkv.size(2) / 3)),
        heads(head_count),
        head_width(width / head_count) {}

  [[nodiscard]] float scale() const { return 1.0F / std::sqrt(static_cast<float>(head_width)); }
  [[nodiscard]] std::size_t square() const { return static_cast<std::size_t>(context) * context; }
  // Floats before (sequence, head) in [batch, heads, context, context].
  [[nodiscard]] std::size_t weights_at(int sequence, int head) const {
    return (static_cast<std::size_t>(sequence) * heads + head) * square();
  }
  // Floats before (sequence, head) in [batch, context, width].
  [[nodiscard]] std::size_t output_at(int sequence, int head) const {
    return static_cast<std::size_t>(sequence) * context * width + static_cast<std::size_t>(head) * head_width;
  }
  // Floats before the queries of (sequence, head) in [batch, context, 3 width]; keys lie `width` and values
  // 2 `width` further.
  [[nodiscard]] std::size_t packed_at(int sequence, int head) const {
    return static_cast<std::size_t>(sequence) * context * packed_stride() + static_cast<std::size_t>(head) * head_width;
  }
  [[nodiscard]] int packed_stride() const { return 3 * width; }

  [[nodiscard]] Matrix packed(const float* data) const { return {data, context, head_width, packed_stride()}; }
  [[nodiscard]] Matrix output(const float* data) const { return {data, context, head_width, width}; }
  [[nodiscard]] Matrix weights(const float* data) const { return {data, context, context, context}; }
};

at::Tensor attend(const at::Tensor& qkv, const at::Tensor& weights, const Shape& shape) {
  at::Tensor output = at::empty({shape.batch, shape.context, shape.width}, qkv.options());
  for (int sequence = 0; sequence < shape.batch; ++sequence) {
    for (int head = 0; head < shape.heads; ++head) {
      const float* query = qkv.data_ptr<float>() + shape.packed_at(sequence, head);
      float* scores = weights.data_ptr<float>() + shape.weights_at(sequence, head);
      multiply(shape.packed(query), shape.packed(query + shape.width).transposed(), scores, shape.context);
      causal_softmax(scores, shape.context, shape.scale());
      multiply(shape.weights(scores), shape.packed(query + 2 * shape.width),
               output.data_ptr<float>() + shape.output_at(sequence, head), shape.width);
    }
  }
  return output;
}

at::Tensor attend_backward(const at::Tensor& qkv, const at::Tensor& weights, const at::Tensor& output_gradient,
                           const Shape& shape) {
  at::Tensor gradient = at::empty_like(qkv);
  std::vector<float> score_gradient(shape.square());
  const Matrix scores = shape.weights(score_gradient.data());
  for (int sequence = 0; sequence < shape.batch; ++sequence) {
    for (int head = 0; head < shape.heads; ++head) {
      const float* query = qkv.data_ptr<float>() + shape.packed_at(sequence, head);
      float* query_gradient = gradient.data_ptr<float>() + shape.packed_at(sequence, head);
      const float* probability = weights.data_ptr<float>() + shape.weights_at(sequence, head);
      const Matrix upstream = shape.output(output_gradient.data_ptr<float>() + shape.output_at(sequence, head));
      const Matrix value = shape.packed(query + 2 * shape.width);
      multiply(shape.weights(probability).transposed(), upstream, query_gradient + 2 * shape.width,
               shape.packed_stride());
      multiply(upstream, value.transposed(), score_gradient.data(), shape.context);
      causal_softmax_backward(probability, score_gradient.data(), shape.context, shape.scale());
      multiply(scores, shape.packed(query + shape.width), query_gradient, shape.packed_stride());
      multiply(scores.transposed(), shape.packed(query), query_gradient + shape.width, shape.packed_stride());
    }
  }
  return gradient;
}

// Saves the attention weights and the input for the backward pass, and nothing else.
struct FusedAttention : torch::autograd::Function<FusedAttention> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& packed, std::int64_t heads) {
    const at::Tensor qkv = packed.contiguous();
    const Shape shape(qkv, static_cast<int>(heads));
    const at::Tensor weights = at::empty({shape.batch, shape.heads, shape.context, shape.context}, qkv.options());
    context->save_for_backward({qkv, weights});
    context->saved_data["heads"] = heads;
    return attend(qkv, weights, shape);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& upstream) {
    const auto saved = context->get_saved_variables();
    const Shape shape(saved[0], static_cast<int>(context->saved_data["heads"].toInt()));
    return {attend_backward(saved[0], saved[1], upstream[0].contiguous(), shape), at::Tensor()};
  }
};

}  // namespace

at::Tensor causal_attention(const at::Tensor& qkv, int heads) {
  if (qkv.is_cpu() && qkv.scalar_type() == at::kFloat) return FusedAttention::apply(qkv, std::int64_t{heads});
  return composed_causal_attention(qkv, heads);
}

namespace {

// Each tensor is [batch, heads, context, head width].
struct Heads {
  at::Tensor query, key, value;
};

Heads heads_of(const at::Tensor& qkv, int heads) {
  const auto batch = qkv.size(0), context = qkv.size(1), width = qkv.size(2) / 3;
  const auto parts = qkv.view({batch, context, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  return {parts[0], parts[1], parts[2]};
}

at::Tensor scores_of(const Heads& parts) {
  return at::matmul(parts.query * (1 / std::sqrt(static_cast<double>(parts.query.size(3)))),
                    parts.key.transpose(-1, -2));
}

at::Tensor mixed(const at::Tensor& scores, const at::Tensor& value) {
  const at::Tensor mix = at::matmul(at::softmax(scores, -1), value).transpose(1, 2);
  return mix.reshape({mix.size(0), mix.size(1), -1});
}

}  // namespace

at::Tensor composed_causal_attention(const at::Tensor& qkv, int heads) {
  const Heads parts = heads_of(qkv, heads);
  const auto future = at::ones({qkv.size(1), qkv.size(1)}, qkv.options().dtype(at::kBool)).triu(1);
  return mixed(scores_of(parts).masked_fill(future, -std::numeric_limits<double>::infinity()), parts.value);
}

at::Tensor full_attention(const at::Tensor& qkv, int heads) {
  const Heads parts = heads_of(qkv, heads);
  return mixed(scores_of(parts), parts.value);
}

at::Tensor with_rotary_positions(const at::Tensor& qkv, int heads) {
  constexpr double kSlowest = 10000;
  const auto batch = qkv.size(0), context = qkv.size(1), width = qkv.size(2) / 3;
  const std::int64_t half = width / heads / 2;
  const auto turns = at::pow(kSlowest, at::arange(half, qkv.options()) / -static_cast<double>(half));
  const auto angles = at::outer(at::arange(context, qkv.options()), turns).view({context, 1, 1, half});
  const auto cosine = angles.cos(), sine = angles.sin();
  const auto parts = qkv.view({batch, context, 3, heads, 2 * half});
  const auto turned = parts.narrow(2, 0, 2);
  const auto x = turned.narrow(4, 0, half), y = turned.narrow(4, half, half);
  const auto result = at::cat({x * cosine - y * sine, y * cosine + x * sine}, 4);
  return at::cat({result, parts.narrow(2, 2, 1)}, 2).view({batch, context, 3 * width});
}

}  // namespace starling::models
