// Softmax of causal attention scores, in place and in one pass over each row.
#pragma once

namespace starling::models {

// `scores` is a square, row-major matrix. Row t becomes softmax(scale · scores[0..t]), then zeros.
void causal_softmax(float* scores, int context, float scale);

// `gradient` holds the derivative of the loss by `probability` (a result of causal_softmax) and becomes the derivative
// by the scores. Entries above the diagonal are not read and become zero.
void causal_softmax_backward(const float* probability, float* gradient, int context, float scale);

}  // namespace starling::models
