// The samples that this member has accumulated toward the present round, and toward the next one where that begins
// while the present one's gradient is averaged; and how fast it works. Pure.
#pragma once

#include "client/rounds/batch_order.h"
#include "client/session/batch_times.h"
#include "client/session/trainer.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/run/training_data.h"

namespace starling::session {

using rounds::BatchTarget;

class RoundProgress {
 public:
  // Forgets both gradients.
  void begin_round(TimePoint now);
  // The present round's gradient is being averaged: batches add to the next one's.
  void look_ahead(TimePoint now);
  // The averaging did not count: batches add to the present round's gradient again. The next round's samples are kept.
  void look_back() { ahead_ = false; }
  // The round is over: the next one, as far as it has come, is the present one.
  void finish_round(TimePoint now);

  // Returns the lane's next `count` samples. They belong to on_batch() or skip(), whatever happens in between.
  wire::SampleRange begin_batch(RoundIndex round, int lane, SampleCount count);
  // Returns the target of the batch that was begun last.
  [[nodiscard]] BatchTarget target() const { return {batch_is_ahead_, batch_sum().samples == 0, anew_}; }
  // waited_s: time since the batch began. The trainer's own figure leaves out the time that the trainer waited.
  void on_batch(const BatchReport& report, double waited_s);
  // Counts samples of the gradient that add nothing to it.
  void on_passed(SampleCount count) { batch_sum().samples += count; }
  // The samples of a batch that can never be used (its gradient was not finite) are passed over.
  void skip(SampleCount count) { batch_sum().next_sample += count; }

  // Forgets the batch time because the trainer is gone: the next batch has to wait for another one, for an unknown
  // time.
  void forget_batch_seconds() { batch_seconds_ = 0; }

  // Returns the number of samples in the gradient that the next batch adds to.
  [[nodiscard]] SampleCount growing() const { return (ahead_ ? next_ : now_).samples; }
  // Returns the number of samples of the present round.
  [[nodiscard]] SampleCount samples() const { return now_.samples; }
  // Mean training loss of the present round's samples, nats; 0 before the first batch.
  [[nodiscard]] double loss() const { return now_.samples > 0 ? now_.loss_sum / static_cast<double>(now_.samples) : 0; }
  // When the present round's first batch could begin.
  [[nodiscard]] TimePoint began() const { return now_.began; }
  // Figures smoothed over batches. The rate is 0 before the first batch, and batch_seconds() is 0 before a trainer's
  // first. The mean is of times, not of rates: a member that is slow for a while computes less than the mean of its
  // rates says.
  [[nodiscard]] double samples_per_s() const { return sample_seconds_ > 0 ? 1 / sample_seconds_ : 0; }
  [[nodiscard]] double batch_seconds() const { return batch_seconds_; }
  // Standard deviation over mean of the trainers' batch times, without each trainer's first batch, in which it warms
  // up; 0: not known yet.
  [[nodiscard]] double batch_jitter() const { return batch_times_.jitter(); }

 private:
  struct Sum {
    SampleCount samples = 0;
    SampleCount next_sample = 0;
    double loss_sum = 0;
    TimePoint began{};
  };
  [[nodiscard]] Sum& batch_sum() { return batch_is_ahead_ ? next_ : now_; }
  [[nodiscard]] const Sum& batch_sum() const { return batch_is_ahead_ ? next_ : now_; }

  Sum now_;
  Sum next_;
  bool anew_ = true;             // nothing has been added since begin_round()
  bool ahead_ = false;           // batches that begin add to next_
  bool batch_is_ahead_ = false;  // the batch that was begun last adds to next_
  double sample_seconds_ = 0;
  double batch_seconds_ = 0;
  BatchTimes batch_times_;
};

}  // namespace starling::session
