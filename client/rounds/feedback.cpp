#include "client/rounds/feedback.h"

#include <utility>

#include "shared/base/verify.h"

namespace starling::rounds {

Feedback::Feedback(std::unique_ptr<Reduction> inner, int fragments, std::size_t floats, float kept)
    : inner_(std::move(inner)), feedbacks_(static_cast<std::size_t>(fragments), {floats, kept}) {}

Move Feedback::begin(const Contribution& contribution) {
  Move move = inner_->begin(contribution);
  auto* const leg = std::get_if<Leg>(&move);
  VERIFY(leg != nullptr);  // a reduction that computes first has a residual of its own
  fragment_ = static_cast<std::size_t>(contribution.plan.round) % feedbacks_.size();
  group_ = contribution.plan.id;
  averaging::ErrorFeedback& feedback = feedbacks_[fragment_];
  leg->vectors.input = feedback.contribute(leg->group, leg->self, leg->vectors.input);
  leg->vectors.rest = feedback.rest();
  return move;
}

Move Feedback::on_leg(const averaging::AveragingOutcome& outcome) {
  feedbacks_[fragment_].on_averaged(group_, outcome);
  return inner_->on_leg(outcome);
}

}  // namespace starling::rounds
