// The sums to which a volunteer's batches add, and from which each round's contribution is taken.
#pragma once

#include <span>

#include "shared/base/ids.h"

namespace starling::rounds {

class GradientSums {
 public:
  virtual ~GradientSums() = default;

  // Returns parameter_count floats, to which a batch of the present round, or of the next one, may add.
  virtual std::span<float> into(bool next_round) = 0;
  // Whether a round's sum starts from zero with its first batch; otherwise sums go on until their turn has come.
  [[nodiscard]] virtual bool begins_each_round() const = 0;
  // Notes that a batch has added the sum of this number of samples.
  virtual void on_batch(SampleCount samples) = 0;
  // Returns the contribution to `round`, of the mean of `samples` (above 0, with a batch since the round before) as the
  // sum of `weight` of them (1 to samples): wire::fragment_floats, unchanged until put_back(), or the next cut.
  virtual std::span<const float> cut(RoundIndex round, SampleCount samples, SampleCount weight) = 0;
  [[nodiscard]] virtual std::span<const float> last_cut() const = 0;
  // The last cut did not count: batches of the present round add to it again.
  virtual void put_back() = 0;
  // The round is over: the next one becomes the present one.
  virtual void finish_round() = 0;
  virtual void clear() = 0;
};

}  // namespace starling::rounds
