// What codecs left out, made up for later: each round contributes its gradient plus a share of what the rounds before
// could not say. That is what this member's own contributions left out and, in the segments that it reduced, what the
// encoded result did (of everybody's sum, in the same unit: the next sum has it again, whoever then owns the segment).
// The residual goes the gradient's way: where a round does not count, both are contributed again, and where nobody
// knows what became of the round (a restart, the others went on without this member), both are lost, once.
// Sources: Stich et al. 2018 (1809.07599), Karimireddy et al. 2019 (1901.09847); of results, Tang et al. 2019
// (DoubleSqueeze, 1905.05957); decayed as in SparseLoCo (2508.15706).
#pragma once

#include <span>
#include <vector>

#include "client/averaging/all_reduce.h"

namespace starling::averaging {

class ErrorFeedback {
 public:
  // `kept`: the share, 0 to 1. Holds two vectors of `floats`, and a segment.
  ErrorFeedback(std::size_t floats, float kept);

  // `input` and what is made up for, to be contributed under this plan in place of `input`. Where the sum would not be
  // summable, the round contributes `input` alone. Empty where `input` is: this member only listens, and perhaps
  // reduces. Valid until the next call, and unchanged but for rest().
  std::span<const float> contribute(const wire::GroupInfo& group, Rank self, std::span<const float> input);
  // RoundVectors::rest of that round.
  [[nodiscard]] std::span<float> rest() { return values_; }
  // How the contributed round ended; of one that was not the last contributed to, nothing changes.
  void on_averaged(const GroupId& group, const AveragingOutcome& outcome);

 private:
  enum class Fate { unknown, not_counted, averaged };

  // In coordinates that were averaged with this member, what is left replaces what was made up for.
  void keep_rest();
  // values_ of a segment, less what their encoding says.
  void subtract_encoded(std::span<float> values);

  float kept_;
  std::vector<float> residual_;  // of all rounds before the contributed one
  std::vector<float> values_;    // contributed; in segments that were reduced here, what the result left out
  std::vector<std::uint8_t> encoded_;
  std::vector<float> decoded_;
  wire::GroupInfo group_;  // of the contributed round
  Rank self_ = 0;
  bool contributed_ = false;
  Fate fate_ = Fate::unknown;
  std::vector<bool> carried_;  // by segment: averaged with this member's values
  std::vector<bool> reduced_;  // by segment: reduced here
};

}  // namespace starling::averaging
