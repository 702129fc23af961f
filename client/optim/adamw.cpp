#include "client/optim/adamw.h"

#include <cmath>

#include "client/optim/exact_math.h"

namespace starling::optim {

AdamWStep adamw_step(const wire::OptimizerOptions& options, double learning_rate, RoundIndex round) {
  AdamWStep step;
  step.decay = static_cast<float>(1 - learning_rate * options.weight_decay);
  step.beta1 = static_cast<float>(options.beta1);
  step.beta1_rest = static_cast<float>(1 - options.beta1);
  step.beta2 = static_cast<float>(options.beta2);
  step.beta2_rest = static_cast<float>(1 - options.beta2);
  step.step_size = static_cast<float>(learning_rate / (1 - integer_power(options.beta1, round + 1)));
  step.second_scale = static_cast<float>(1 / std::sqrt(1 - integer_power(options.beta2, round + 1)));
  step.epsilon = static_cast<float>(options.epsilon);
  return step;
}

void adamw_update(const AdamWStep& step, bool decayed, std::span<const float> gradient,
                  const AdamWVectors<const float>& from, const AdamWVectors<float>& to) {
  const AdamWStep s = step;  // a copy: the loop may keep it in registers
  const float decay = decayed ? s.decay : 1.0F;
  const float* __restrict g = gradient.data();
  const float* __restrict p = from.parameters;
  const float* __restrict m = from.first_moment;
  const float* __restrict v = from.second_moment;
  float* __restrict p_new = to.parameters;
  float* __restrict m_new = to.first_moment;
  float* __restrict v_new = to.second_moment;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const float scaled = g[i] * s.gradient_scale;
    const float first = m[i] * s.beta1 + scaled * s.beta1_rest;
    const float second = v[i] * s.beta2 + (scaled * scaled) * s.beta2_rest;
    const float denominator = std::sqrt(second) * s.second_scale + s.epsilon;
    p_new[i] = p[i] * decay - s.step_size * (first / denominator);
    m_new[i] = first;
    v_new[i] = second;
  }
}

}  // namespace starling::optim
