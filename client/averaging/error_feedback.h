// Error feedback: values that codecs left out are contributed in later rounds. Each round contributes its gradient plus
// a share of the *residual*, which has two parts: what the codec left out of this member's own contributions and, in
// segments that this member reduced, what it left out of the encoded result. (The latter belongs to everybody's sum and
// has its unit: the next sum has it again, whoever owns the segment then.) The residual shares the gradient's fate:
// where a round does not count, both are contributed again; where nobody knows what became of the round (a restart, or
// the others went on without this member), both are lost, once.
// Sources: Stich et al. 2018 (1809.07599), Karimireddy et al. 2019 (1901.09847); for results, Tang et al. 2019
// (DoubleSqueeze, 1905.05957); decay as in SparseLoCo (2508.15706).
#pragma once

#include <span>
#include <vector>

#include "client/averaging/round_types.h"

namespace starling::averaging {

class ErrorFeedback {
 public:
  // `kept`: the share of the residual that is contributed, 0 to 1. Holds two vectors of `floats`, and a segment.
  ErrorFeedback(std::size_t floats, float kept);

  // `input` plus the share of the residual, to be contributed under this plan in place of `input`. If their sum would
  // not be summable, the round contributes `input` alone. Empty where `input` is: this member only listens, and perhaps
  // reduces. Valid until the next call, and unchanged except through rest().
  std::span<const float> contribute(const wire::GroupInfo& group, Rank self, std::span<const float> input);
  // Memory for RoundVectors::rest of that round.
  [[nodiscard]] std::span<float> rest() { return values_; }
  // The contributed round has ended with `outcome`. An older round changes nothing.
  void on_averaged(const GroupId& group, const AveragingOutcome& outcome);

 private:
  enum class Fate { unknown, not_counted, averaged };

  // In coordinates that were averaged with this member, the new rest replaces the residual.
  void keep_rest();
  // Subtracts the decoded form of the values of a segment.
  void subtract_encoded(std::span<float> values);

  float kept_;
  std::vector<float> residual_;  // residual of all rounds before the contributed one
  std::vector<float> values_;    // contributed values; in segments reduced here, the part that the result left out
  std::vector<std::uint8_t> encoded_;
  std::vector<float> decoded_;
  wire::GroupInfo group_;  // plan of the contributed round
  Rank self_ = 0;
  bool contributed_ = false;
  Fate fate_ = Fate::unknown;
  std::vector<bool> carried_;  // by segment: averaged with this member's values
  std::vector<bool> reduced_;  // by segment: reduced here
};

}  // namespace starling::averaging
