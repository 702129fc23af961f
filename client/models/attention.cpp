#include "client/models/attention.h"

#include <ATen/ATen.h>
#include <cblas.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <vector>

#include "client/models/causal_softmax.h"

namespace starling::models {

namespace {

// Where one head of one sequence lies in packed queries, keys and values (or in their gradients).
template <typename Float>
struct PackedHead {
  Float* query;
  Float* key;
  Float* value;
  int stride;  // floats from one position to the next
};

// Sizes of one call, and the places of its heads in memory.
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
  template <typename Float>
  [[nodiscard]] PackedHead<Float> packed_head(Float* qkv, int sequence, int head) const {
    Float* query = qkv + static_cast<std::size_t>(sequence) * context * 3 * width + head * head_width;
    return {query, query + width, query + 2 * width, 3 * width};
  }
};

struct Matrix {
  const float* data;
  int stride;
  bool transposed = false;
};

// out [rows, columns] = a [rows, inner] · b [inner, columns], row-major.
void multiply(int rows, int columns, int inner, const Matrix& a, const Matrix& b, float* out, int out_stride) {
  cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans, rows,
              columns, inner, 1.0F, a.data, a.stride, b.data, b.stride, 0.0F, out, out_stride);
}

at::Tensor attend(const at::Tensor& qkv, const at::Tensor& weights, const Shape& shape) {
  at::Tensor output = at::empty({shape.batch, shape.context, shape.width}, qkv.options());
  const float* packed = qkv.data_ptr<float>();
  const int t = shape.context;
  for (int sequence = 0; sequence < shape.batch; ++sequence) {
    for (int head = 0; head < shape.heads; ++head) {
      const auto in = shape.packed_head(packed, sequence, head);
      float* scores = weights.data_ptr<float>() + shape.weights_at(sequence, head);
      multiply(t, t, shape.head_width, {in.query, in.stride}, {in.key, in.stride, true}, scores, t);
      causal_softmax(scores, t, shape.scale());
      multiply(t, shape.head_width, t, {scores, t}, {in.value, in.stride},
               output.data_ptr<float>() + shape.output_at(sequence, head), shape.width);
    }
  }
  return output;
}

at::Tensor attend_backward(const at::Tensor& qkv, const at::Tensor& weights, const at::Tensor& output_gradient,
                           const Shape& shape) {
  at::Tensor gradient = at::empty_like(qkv);
  std::vector<float> score_gradient(shape.square());
  const int t = shape.context;
  const int d = shape.head_width;
  for (int sequence = 0; sequence < shape.batch; ++sequence) {
    for (int head = 0; head < shape.heads; ++head) {
      const auto in = shape.packed_head(static_cast<const float*>(qkv.data_ptr<float>()), sequence, head);
      const auto out = shape.packed_head(gradient.data_ptr<float>(), sequence, head);
      const float* probability = weights.data_ptr<float>() + shape.weights_at(sequence, head);
      const Matrix upstream{output_gradient.data_ptr<float>() + shape.output_at(sequence, head), shape.width};
      multiply(t, d, t, {probability, t, true}, upstream, out.value, out.stride);
      multiply(t, t, d, upstream, {in.value, in.stride, true}, score_gradient.data(), t);
      causal_softmax_backward(probability, score_gradient.data(), t, shape.scale());
      multiply(t, d, t, {score_gradient.data(), t}, {in.key, in.stride}, out.query, out.stride);
      multiply(t, d, t, {score_gradient.data(), t, true}, {in.query, in.stride}, out.key, out.stride);
    }
  }
  return gradient;
}

// Keeps the attention weights for the way back; nothing else is saved but the input.
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

at::Tensor composed_causal_attention(const at::Tensor& qkv, int heads) {
  const auto batch = qkv.size(0), context = qkv.size(1), width = qkv.size(2) / 3;
  const auto parts = qkv.view({batch, context, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  const auto future = at::ones({context, context}, qkv.options().dtype(at::kBool)).triu(1);
  const auto scores = at::matmul(parts[0] * scale, parts[1].transpose(-1, -2))
                          .masked_fill(future, -std::numeric_limits<double>::infinity());
  return at::matmul(at::softmax(scores, -1), parts[2]).transpose(1, 2).reshape({batch, context, width});
}

}  // namespace starling::models
