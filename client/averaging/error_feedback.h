// What a codec left out of a member's contributions, made up for in the next: each round contributes its gradient plus
// a share of what the rounds before could not say. A residual that is lost (a restart, a failed round, coordinates
// that were averaged without this member) costs that much signal, once, and nothing else.
// Sources: Stich et al. 2018 (1809.07599), Karimireddy et al. 2019 (1901.09847); decayed as in SparseLoCo (2508.15706).
#pragma once

#include <span>
#include <vector>

#include "client/averaging/all_reduce.h"

namespace starling::averaging {

class ErrorFeedback {
 public:
  // `kept`: the share, 0 to 1. Holds one vector of `floats`, and a segment.
  ErrorFeedback(std::size_t floats, float kept);

  // `input` and what is made up for, to be contributed under this plan in place of `input`. Where the sum would not be
  // summable, the round contributes `input` alone. Valid, and unchanged, until the next call.
  std::span<const float> contribute(const wire::GroupInfo& group, Rank self, std::span<const float> input);
  // The contributed round ended with a result that is used; a round that was not the last contributed to changes
  // nothing. Without this call, what was contributed is forgotten.
  void on_averaged(const GroupId& group, const AveragingOutcome& outcome);

 private:
  // In coordinates that were averaged with this member's encoded values the rest stays; elsewhere none.
  void keep_rest();
  void keep_rest_of(std::span<float> values, wire::Codec codec);

  float kept_;
  std::vector<float> values_;  // contributed; after keep_rest(): what is left of it
  std::vector<std::uint8_t> encoded_;
  std::vector<float> decoded_;
  wire::GroupInfo group_;  // of the contributed round
  Rank self_ = 0;
  std::vector<bool> carried_;  // by segment: averaged with this member's encoded values
  bool settled_ = false;
};

}  // namespace starling::averaging
