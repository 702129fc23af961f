#include "client/averaging/error_feedback.h"

#include <algorithm>

#include "client/averaging/codec.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

ErrorFeedback::ErrorFeedback(std::size_t floats, float kept) : kept_(kept), values_(floats, 0.0F) {
  VERIFY(kept >= 0 && kept <= 1);
}

std::span<const float> ErrorFeedback::contribute(const wire::GroupInfo& group, Rank self,
                                                 std::span<const float> input) {
  VERIFY(input.size() == values_.size());
  if (settled_) {
    keep_rest();
  } else {
    std::fill(values_.begin(), values_.end(), 0.0F);
  }
  settled_ = false;
  group_ = group;
  self_ = self;
  for (std::size_t i = 0; i < input.size(); ++i) values_[i] = kept_ * values_[i] + input[i];
  if (!summable(values_)) std::copy(input.begin(), input.end(), values_.begin());
  return values_;
}

// The own part went in as it was, and so may what was reduced again for a lost owner: nothing is left of these.
void ErrorFeedback::on_averaged(const GroupId& group, const AveragingOutcome& outcome) {
  if (group != group_.id) return;
  const SegmentTable table(group_);
  carried_.assign(table.size(), false);
  SegmentIndex segment = 0;
  for (const ContributorRun& run : outcome.contributors) {
    for (; segment < table.size() && table[segment].begin < run.begin + run.floats; ++segment) {
      const Rank owner = table[segment].owner;
      const bool lost = std::any_of(outcome.lost.begin(), outcome.lost.end(),
                                    [owner](const LostMember& member) { return member.rank == owner; });
      carried_[segment] = run.members.test(self_) && owner != self_ && !lost;
    }
  }
  settled_ = true;
}

void ErrorFeedback::keep_rest() {
  const SegmentTable table(group_);
  const Codec codec = wire::contribution_codec(group_, self_);
  for (SegmentIndex segment = 0; segment < table.size(); ++segment) {
    const std::span<float> values =
        std::span(values_).subspan(static_cast<std::size_t>(table[segment].begin), table[segment].floats);
    if (carried_[segment] && codec != Codec::fp32) {
      keep_rest_of(values, codec);
    } else {
      std::fill(values.begin(), values.end(), 0.0F);
    }
  }
}

void ErrorFeedback::keep_rest_of(std::span<float> values, Codec codec) {
  encoded_.resize(encoded_bytes(codec, values.size()));
  decoded_.resize(values.size());
  encode(codec, values, encoded_);
  VERIFY(decode(codec, encoded_, decoded_).ok());  // the owner took the same bytes
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= decoded_[i];
}

}  // namespace starling::averaging
