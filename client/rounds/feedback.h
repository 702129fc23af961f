// Error feedback (client/averaging/error_feedback.h) around a reduction in one leg: the leg brings the contribution and
// a share of what codecs left out of earlier rounds. Where rounds average fragments, each fragment has a residual of
// its own. Pure.
#pragma once

#include <memory>
#include <vector>

#include "client/averaging/error_feedback.h"
#include "client/rounds/reduction.h"

namespace starling::rounds {

class Feedback final : public Reduction {
 public:
  // `kept`: ErrorFeedback. Takes memory for `fragments` x `floats` twice.
  Feedback(std::unique_ptr<Reduction> inner, int fragments, std::size_t floats, float kept);

  Move begin(const Contribution& contribution) override;
  Move on_computed() override { return inner_->on_computed(); }
  Move on_leg(const averaging::AveragingOutcome& outcome) override;
  [[nodiscard]] std::span<const float> average() const override { return inner_->average(); }

 private:
  std::unique_ptr<Reduction> inner_;
  std::vector<averaging::ErrorFeedback> feedbacks_;  // by fragment
  std::size_t fragment_ = 0;                         // fragment of the round under way, or the last
  GroupId group_;                                    // plan of that round
};

}  // namespace starling::rounds
