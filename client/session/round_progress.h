// What this member has accumulated toward the present round, and how fast it works. Pure.
#pragma once

#include "client/session/trainer.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/wire/training_data.h"

namespace starling::session {

class RoundProgress {
 public:
  // Forgets the gradient of the round before.
  void begin_round(TimePoint now);

  // The lane's next `count` samples of the round.
  [[nodiscard]] wire::SampleRange next_range(RoundIndex round, int lane, SampleCount count) const;
  void on_batch(const BatchReport& report);
  // The samples of a batch that can never be used (its gradient was not finite) are passed over.
  void skip(SampleCount count) { next_sample_ += count; }

  [[nodiscard]] SampleCount samples() const { return samples_; }
  // Mean training loss of this round's samples, nats; 0 before the first batch.
  [[nodiscard]] double loss() const { return samples_ > 0 ? loss_sum_ / static_cast<double>(samples_) : 0; }
  // Smoothed over batches; 0 before the first.
  [[nodiscard]] double samples_per_s() const { return samples_per_s_; }
  [[nodiscard]] double batch_seconds() const { return batch_seconds_; }
  [[nodiscard]] TimePoint began() const { return began_; }

 private:
  SampleCount samples_ = 0;
  SampleCount next_sample_ = 0;
  double loss_sum_ = 0;
  double samples_per_s_ = 0;
  double batch_seconds_ = 0;
  TimePoint began_{};
};

}  // namespace starling::session
