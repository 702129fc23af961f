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
  HeadCounts heads;
  int batch, context, head_width, width;

  Shape(const at::Tensor& qkv, HeadCounts counts)
      : heads(counts),
        batch(static_cast<int>(qkv.size(0))),
        context(static_cast<int>(qkv.size(1))),
        head_width(static_cast<int>(qkv.size(2) / counts.packed())),
        width(counts.heads * head_width) {}

  [[nodiscard]] float scale() const { return 1.0F / std::sqrt(static_cast<float>(head_width)); }
  [[nodiscard]] std::size_t square() const { return static_cast<std::size_t>(context) * context; }
  // Floats before (sequence, head) in [batch, heads, context, context].
  [[nodiscard]] std::size_t weights_at(int sequence, int head) const {
    return (static_cast<std::size_t>(sequence) * heads.heads + head) * square();
  }
  // Floats before (sequence, head) in [batch, context, width].
  [[nodiscard]] std::size_t output_at(int sequence, int head) const {
    return static_cast<std::size_t>(sequence) * context * width + static_cast<std::size_t>(head) * head_width;
  }
  // Floats before a head of (sequence, query's head) in [batch, context, packed · head width].
  [[nodiscard]] std::size_t query_at(int sequence, int head) const { return packed_at(sequence, head); }
  [[nodiscard]] std::size_t key_at(int sequence, int head) const {
    return packed_at(sequence, heads.heads + head / heads.group());
  }
  [[nodiscard]] std::size_t value_at(int sequence, int head) const {
    return packed_at(sequence, heads.heads + heads.kv_heads + head / heads.group());
  }
  [[nodiscard]] int packed_stride() const { return heads.packed() * head_width; }

  [[nodiscard]] Matrix packed(const float* data) const { return {data, context, head_width, packed_stride()}; }
  [[nodiscard]] Matrix output(const float* data) const { return {data, context, head_width, width}; }
  [[nodiscard]] Matrix weights(const float* data) const { return {data, context, context, context}; }

 private:
  [[nodiscard]] std::size_t packed_at(int sequence, int place) const {
    return static_cast<std::size_t>(sequence) * context * packed_stride() +
           static_cast<std::size_t>(place) * head_width;
  }
};

at::Tensor attend(const at::Tensor& qkv, const at::Tensor& weights, const Shape& shape) {
  at::Tensor output = at::empty({shape.batch, shape.context, shape.width}, qkv.options());
  for (int sequence = 0; sequence < shape.batch; ++sequence) {
    for (int head = 0; head < shape.heads.heads; ++head) {
      const float* data = qkv.data_ptr<float>();
      const Matrix key = shape.packed(data + shape.key_at(sequence, head));
      float* scores = weights.data_ptr<float>() + shape.weights_at(sequence, head);
      multiply(shape.packed(data + shape.query_at(sequence, head)), key.transposed(), scores, shape.context);
      causal_softmax(scores, shape.context, shape.scale());
      multiply(shape.weights(scores), shape.packed(data + shape.value_at(sequence, head)),
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
    for (int head = 0; head < shape.heads.heads; ++head) {
      const float* data = qkv.data_ptr<float>();
      float* to = gradient.data_ptr<float>();
      const float* probability = weights.data_ptr<float>() + shape.weights_at(sequence, head);
      const Matrix upstream = shape.output(output_gradient.data_ptr<float>() + shape.output_at(sequence, head));
      const Matrix query = shape.packed(data + shape.query_at(sequence, head));
      const Matrix key = shape.packed(data + shape.key_at(sequence, head));
      const Matrix value = shape.packed(data + shape.value_at(sequence, head));
      // Keys and values gather what comes from all queries that they serve.
      const Product shared = head % shape.heads.group() == 0 ? Product::replaces : Product::is_added;
      multiply(shape.weights(probability).transposed(), upstream, to + shape.value_at(sequence, head),
               shape.packed_stride(), shared);
      multiply(upstream, value.transposed(), score_gradient.data(), shape.context);
      causal_softmax_backward(probability, score_gradient.data(), shape.context, shape.scale());
      multiply(scores, key, to + shape.query_at(sequence, head), shape.packed_stride());
      multiply(scores.transposed(), query, to + shape.key_at(sequence, head), shape.packed_stride(), shared);
    }
  }
  return gradient;
}

// Saves the attention weights and the input for the backward pass, and nothing else.
struct FusedAttention : torch::autograd::Function<FusedAttention> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& packed, std::int64_t heads,
                            std::int64_t kv_heads) {
    const at::Tensor qkv = packed.contiguous();
    const Shape shape(qkv, {static_cast<int>(heads), static_cast<int>(kv_heads)});
    const at::Tensor weights = at::empty({shape.batch, heads, shape.context, shape.context}, qkv.options());
    context->save_for_backward({qkv, weights});
    context->saved_data["heads"] = heads;
    context->saved_data["kv_heads"] = kv_heads;
    return attend(qkv, weights, shape);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& upstream) {
    const auto saved = context->get_saved_variables();
    const auto count = [context](const char* name) { return static_cast<int>(context->saved_data[name].toInt()); };
    const Shape shape(saved[0], {count("heads"), count("kv_heads")});
    return {attend_backward(saved[0], saved[1], upstream[0].contiguous(), shape), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor causal_attention(const at::Tensor& qkv, HeadCounts heads) {
  if (qkv.is_cpu() && qkv.scalar_type() == at::kFloat) {
    return FusedAttention::apply(qkv, std::int64_t{heads.heads}, std::int64_t{heads.kv_heads});
  }
  return composed_causal_attention(qkv, heads);
}

namespace {

// Each tensor is [batch, heads, context, head width].
struct Heads {
  at::Tensor query, key, value;
};

Heads heads_of(const at::Tensor& qkv, HeadCounts heads) {
  const auto batch = qkv.size(0), context = qkv.size(1), head_width = qkv.size(2) / heads.packed();
  const auto parts = qkv.view({batch, context, heads.packed(), head_width}).transpose(1, 2);
  const auto shared = [&](int first) {
    const at::Tensor own = parts.narrow(1, first, heads.kv_heads);
    return heads.group() == 1 ? own : own.repeat_interleave(heads.group(), 1);
  };
  return {parts.narrow(1, 0, heads.heads), shared(heads.heads), shared(heads.heads + heads.kv_heads)};
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

at::Tensor composed_causal_attention(const at::Tensor& qkv, HeadCounts heads) {
  const Heads parts = heads_of(qkv, heads);
  const auto future = at::ones({qkv.size(1), qkv.size(1)}, qkv.options().dtype(at::kBool)).triu(1);
  return mixed(scores_of(parts).masked_fill(future, -std::numeric_limits<double>::infinity()), parts.value);
}

at::Tensor full_attention(const at::Tensor& qkv, HeadCounts heads) {
  const Heads parts = heads_of(qkv, heads);
  return mixed(scores_of(parts), parts.value);
}

at::Tensor with_rotary_positions(const at::Tensor& qkv, HeadCounts heads) {
  constexpr double kSlowest = 10000;
  const auto batch = qkv.size(0), context = qkv.size(1), half = qkv.size(2) / heads.packed() / 2;
  const auto turns = at::pow(kSlowest, at::arange(half, qkv.options()) / -static_cast<double>(half));
  const auto angles = at::outer(at::arange(context, qkv.options()), turns).view({context, 1, half});
  const auto cosine = angles.cos(), sine = angles.sin();
  const auto parts = qkv.view({batch, context, heads.packed(), 2 * half});
  const int turning = heads.heads + heads.kv_heads;
  const auto turned = parts.narrow(2, 0, turning);
  const auto x = turned.narrow(3, 0, half), y = turned.narrow(3, half, half);
  const auto result = at::cat({x * cosine - y * sine, y * cosine + x * sine}, 3);
  return at::cat({result, parts.narrow(2, turning, heads.kv_heads)}, 2).view({batch, context, -1});
}

}  // namespace starling::models
