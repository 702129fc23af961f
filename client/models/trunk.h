// A decoder whose experts are somewhere else: computed in segments, between which tokens go through experts that others
// have. A segment ends where a layer's experts are asked, with their inputs and the gate's outputs, and the next one
// begins with their results; the last one ends with the loss. On the way back each segment takes the gradient of what
// it ended with, and gives that of the results with which it began. So nothing waits within a pass of autograd.
#pragma once

#include <vector>

#include "client/models/decoder_parts.h"
#include "client/models/model.h"

namespace starling::models {

// Where a segment ends.
struct Asked {
  at::Tensor stream;   // [tokens, width]: what the experts' mixture is added to
  at::Tensor inputs;   // [tokens, width]: the experts'
  at::Tensor outputs;  // the gate's (gate_outputs)
};

// The answers of a layer's experts. A result is that of one token through one expert.
struct ExpertResults {
  at::Tensor experts;  // integers (kLong) [tokens, active]: who was chosen and has answered; below 0: nobody
  at::Tensor places;   // integers (kLong) [results]: each result's place in the flattened `experts`
  at::Tensor values;   // [results, width]
};

// The end of a segment between the first and the last.
struct Middle {
  Asked asked;
  at::Tensor gate_loss;  // the one before the segment, summed over samples: its gradient counts, and nobody is told it
};

class Trunk {
 public:
  // `trunk`: wire::trunk_of a model. The others as for Parameters.
  Trunk(const wire::ModelOptions& trunk, const at::Tensor& parameters, const at::Tensor& gradient);

  // Layers with experts, and one.
  [[nodiscard]] int segments() const { return static_cast<int>(asking_.size()) + 1; }

  // Segment 0: tokens [batch, length].
  [[nodiscard]] Asked begin(const at::Tensor& tokens) const;
  // Segments 1 to segments() - 2. `asked`: the end of the segment before.
  [[nodiscard]] Middle go_on(int segment, const Asked& asked, const ExpertResults& results, std::int64_t batch) const;
  // The last segment: the loss as for Decoder::loss, with the loss of the last gate alone.
  [[nodiscard]] at::Tensor loss(const Asked& asked, const ExpertResults& results, const Batch& batch) const;
  // Likewise, but the scores of the next tokens, [tokens, vocabulary], of `batch` samples.
  [[nodiscard]] at::Tensor scores(const Asked& asked, const ExpertResults& results, std::int64_t batch) const;

 private:
  struct Mixed {
    at::Tensor stream;
    at::Tensor gate_loss;
  };
  [[nodiscard]] at::Tensor scores_of(at::Tensor stream, std::int64_t batch) const;
  [[nodiscard]] Mixed mixed(const Asked& asked, const ExpertResults& results, std::int64_t batch) const;
  // Goes on from the input of layer `from` to the experts of layer `layer`.
  [[nodiscard]] Asked ask(at::Tensor x, std::int64_t batch, int from, int layer) const;
  [[nodiscard]] at::Tensor through_layers(at::Tensor x, std::int64_t batch, int from, int to) const;

  DecoderParts parts_;
  std::vector<int> asking_;  // the layers with experts
};

}  // namespace starling::models
