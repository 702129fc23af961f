#include "client/session/round_progress.h"

namespace starling::session {
namespace {

constexpr double kSmoothing = 0.2;  // weight of the newest batch in the moving averages

double smoothed(double old, double fresh) { return old == 0 ? fresh : old + kSmoothing * (fresh - old); }

}  // namespace

void RoundProgress::begin_round(TimePoint now) {
  began_ = now;
  samples_ = 0;
  next_sample_ = 0;
  loss_sum_ = 0;
}

wire::SampleRange RoundProgress::next_range(RoundIndex round, int lane, SampleCount count) const {
  return {round, lane, next_sample_, count};
}

void RoundProgress::on_batch(const BatchReport& report) {
  samples_ += report.samples;
  next_sample_ += report.samples;
  loss_sum_ += report.loss_sum;
  if (report.seconds > 0) {
    samples_per_s_ = smoothed(samples_per_s_, static_cast<double>(report.samples) / report.seconds);
    batch_seconds_ = smoothed(batch_seconds_, report.seconds);
  }
}

}  // namespace starling::session
