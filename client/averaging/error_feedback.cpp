#include "client/averaging/error_feedback.h"

#include <algorithm>

#include "client/averaging/codec.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

ErrorFeedback::ErrorFeedback(std::size_t floats, float kept)
    : kept_(kept), residual_(floats, 0.0F), values_(floats, 0.0F) {
  VERIFY(kept >= 0 && kept <= 1);
}

std::span<const float> ErrorFeedback::contribute(const wire::GroupInfo& group, Rank self,
                                                 std::span<const float> input) {
  VERIFY(input.empty() || input.size() == values_.size());
  if (fate_ == Fate::averaged) {
    keep_rest();
  } else if (fate_ == Fate::unknown && contributed_) {
    std::fill(residual_.begin(), residual_.end(), 0.0F);
  }
  fate_ = Fate::unknown;
  group_ = group;
  self_ = self;
  contributed_ = !input.empty();
  for (std::size_t i = 0; i < input.size(); ++i) values_[i] = kept_ * residual_[i] + input[i];
  if (contributed_ && !summable(values_)) std::copy(input.begin(), input.end(), values_.begin());
  return contributed_ ? std::span<const float>(values_) : input;
}

void ErrorFeedback::on_averaged(const GroupId& group, const AveragingOutcome& outcome) {
  if (group != group_.id) return;
  using Verdict = AveragingOutcome::Verdict;
  if (outcome.verdict == Verdict::minority || outcome.verdict == Verdict::called_off) fate_ = Fate::not_counted;
  if (outcome.verdict != AveragingOutcome::Verdict::averaged) return;
  const SegmentTable table(group_);
  carried_.assign(table.size(), false);
  SegmentIndex segment = 0;
  for (const ContributorRun& run : outcome.contributors) {
    for (; segment < table.size() && table[segment].begin < run.begin + run.floats; ++segment) {
      carried_[segment] = run.members.test(self_);
    }
  }
  reduced_ = outcome.reduced;
  reduced_.resize(table.size());
  fate_ = Fate::averaged;
}

void ErrorFeedback::keep_rest() {
  const SegmentTable table(group_);
  for (SegmentIndex segment = 0; segment < table.size(); ++segment) {
    const auto begin = static_cast<std::size_t>(table[segment].begin);
    const std::span<float> values = std::span(values_).subspan(begin, table[segment].floats);
    const std::span<float> residual = std::span(residual_).subspan(begin, table[segment].floats);
    if (carried_[segment]) {
      if (!reduced_[segment]) subtract_encoded(values);  // a segment that is reduced here goes in unencoded
      std::copy(values.begin(), values.end(), residual.begin());
    } else if (reduced_[segment]) {
      for (std::size_t i = 0; i < values.size(); ++i) residual[i] += values[i];
    }
  }
}

void ErrorFeedback::subtract_encoded(std::span<float> values) {
  const Codec codec = wire::contribution_codec(group_, self_);
  encoded_.resize(encoded_bytes(codec, values.size()));
  decoded_.resize(values.size());
  encode(codec, values, encoded_);
  VERIFY(decode(codec, encoded_, decoded_).ok());  // the owner decoded these bytes too
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= decoded_[i];
}

}  // namespace starling::averaging
