// What this member has accumulated toward the present round, and toward the next one where that begins while the
// present one's gradient is averaged; and how fast it works. Pure.
#pragma once

#include "client/session/batch_times.h"
#include "client/session/trainer.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/wire/training_data.h"

namespace starling::session {

// Which round's gradient a batch adds to, and whether it is the first that does: that starts from zero. anew: whatever
// was computed before is forgotten, also what rounds had not asked for yet (fragment_sums.h).
struct BatchTarget {
  bool next_round = false;
  bool first = true;
  bool anew = true;
};

class RoundProgress {
 public:
  // Forgets both gradients.
  void begin_round(TimePoint now);
  // The present round's gradient is being averaged: batches add to the next one's.
  void look_ahead(TimePoint now);
  // The averaging did not count: batches add to the present round's again. What the next one has is kept.
  void look_back() { ahead_ = false; }
  // The round is over: the next one, as far as it has come, is the present one.
  void finish_round(TimePoint now);

  // The lane's next `count` samples. They are on_batch()'s or skip()'s, whatever happens in between.
  wire::SampleRange begin_batch(RoundIndex round, int lane, SampleCount count);
  // Of the batch that was begun last.
  [[nodiscard]] BatchTarget target() const { return {batch_is_ahead_, batch_sum().samples == 0, anew_}; }
  // waited_s: for the batch, from its begin: what the trainer says of its time leaves out what it waited for itself.
  void on_batch(const BatchReport& report, double waited_s);
  // The gradient counts so many samples more, of which it has nothing.
  void on_passed(SampleCount count) { batch_sum().samples += count; }
  // The samples of a batch that can never be used (its gradient was not finite) are passed over.
  void skip(SampleCount count) { batch_sum().next_sample += count; }

  // The trainer is gone: the next batch has to wait for another one, nobody knows how long.
  void forget_batch_seconds() { batch_seconds_ = 0; }

  // What the next batch adds to has so many.
  [[nodiscard]] SampleCount growing() const { return (ahead_ ? next_ : now_).samples; }
  // Of the present round.
  [[nodiscard]] SampleCount samples() const { return now_.samples; }
  // Mean training loss of its samples, nats; 0 before the first batch.
  [[nodiscard]] double loss() const { return now_.samples > 0 ? now_.loss_sum / static_cast<double>(now_.samples) : 0; }
  // When its first batch could begin.
  [[nodiscard]] TimePoint began() const { return now_.began; }
  // Smoothed over batches; 0 before the first, and batch_seconds() before a trainer's first. The mean is of times, not
  // of rates: whoever is slow now and then computes less than the mean of its rates says.
  [[nodiscard]] double samples_per_s() const { return sample_seconds_ > 0 ? 1 / sample_seconds_ : 0; }
  [[nodiscard]] double batch_seconds() const { return batch_seconds_; }
  // Of the trainers' batches, but for each one's first, in which it warms up: standard deviation over mean; 0: not
  // known yet.
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
  bool ahead_ = false;           // batches that begin add to next_, …
  bool batch_is_ahead_ = false;  // … and the one that was begun last does
  double sample_seconds_ = 0;
  double batch_seconds_ = 0;
  BatchTimes batch_times_;
};

}  // namespace starling::session
