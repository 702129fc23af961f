#include "client/session/round_progress.h"

#include <algorithm>
#include <utility>

namespace starling::session {
namespace {

constexpr double kSmoothing = 0.2;  // weight of the newest batch in the moving averages

double smoothed(double old, double fresh) { return old == 0 ? fresh : old + kSmoothing * (fresh - old); }

}  // namespace

void RoundProgress::begin_round(TimePoint now) {
  next_ = Sum{};
  finish_round(now);
  anew_ = true;
}

void RoundProgress::look_ahead(TimePoint now) {
  ahead_ = true;
  if (next_.samples == 0) next_.began = now;
}

void RoundProgress::finish_round(TimePoint now) {
  now_ = std::exchange(next_, Sum{});
  if (now_.samples == 0) now_.began = now;
  ahead_ = batch_is_ahead_ = false;
}

wire::SampleRange RoundProgress::begin_batch(RoundIndex round, int lane, SampleCount count) {
  batch_is_ahead_ = ahead_;
  return {ahead_ ? round + 1 : round, lane, batch_sum().next_sample, count};
}

void RoundProgress::on_batch(const BatchReport& report, double waited_s) {
  Sum& sum = batch_sum();
  anew_ = false;
  sum.samples += report.samples;
  sum.next_sample += report.samples;
  sum.loss_sum += report.loss_sum;
  // The first batch of a trainer is waited for while the trainer starts.
  const bool warm = batch_seconds_ > 0;
  const double seconds = warm ? std::max(waited_s, report.seconds) : report.seconds;
  if (seconds <= 0 || report.samples <= 0) return;
  if (warm) batch_times_.add(report.samples, seconds);
  sample_seconds_ = smoothed(sample_seconds_, seconds / static_cast<double>(report.samples));
  batch_seconds_ = smoothed(batch_seconds_, seconds);
}

}  // namespace starling::session
