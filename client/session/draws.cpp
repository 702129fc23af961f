#include "client/session/draws.h"

#include <algorithm>
#include <utility>

namespace starling::session {

void Draws::begin_round() {
  ahead_gradient_ = {};
  begin_next();
}

void Draws::finish_round() {
  last_first_ = now_.first;
  last_leases_ = leases_;
  begin_next();
}

void Draws::return_to_last_round() {
  if (last_first_ == 0) return;
  next_ = std::exchange(last_first_, 0);
  spoilt_end_ = 0;
  passed_.clear();
  // The coordinator's replies omit leases that it believes to be used up.
  const auto is_told = [this](const wire::SampleLease& lease) {
    return std::find(leases_.begin(), leases_.end(), lease) != leases_.end();
  };
  for (const wire::SampleLease& lease : last_leases_) {
    if (lease.number + lease.count > next_ && !is_told(lease)) leases_.push_back(lease);
  }
  std::sort(leases_.begin(), leases_.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
}

void Draws::begin_next() {
  now_ = std::exchange(ahead_gradient_, {});
  ahead_ = batch_is_ahead_ = false;
}

std::optional<wire::SampleRange> Draws::begin_batch(RoundIndex round, SampleCount count) {
  batch_is_ahead_ = ahead_;
  const Gradient& gradient = of_batch();
  for (const wire::SampleLease& lease : leases_) {
    const SampleCount end = lease.number + lease.count;
    if (lease.last_round < round || end <= next_) continue;
    const SampleCount number = std::max(next_, lease.number);
    if (gradient.first > 0 && number != gradient.end + passed_from(gradient.end)) return std::nullopt;
    if (number < spoilt_end_) count = std::min(count, std::max<SampleCount>(1, (spoilt_end_ - number) / 2));
    batch_ = number;
    batch_count_ = std::min(count, end - number);
    return wire::SampleRange{round, 0, lease.first + (number - lease.number), batch_count_, lease.epoch};
  }
  return std::nullopt;
}

Draws::Passed Draws::on_batch() {
  Gradient& gradient = of_batch();
  Passed passed;
  if (gradient.first == 0) {
    gradient.first = batch_;
  } else {
    passed.counted = passed_from(gradient.end);
  }
  next_ = gradient.end = batch_ + batch_count_;
  passed.draws = std::exchange(passed_, {});
  return passed;
}

bool Draws::on_unusable() {
  spoilt_end_ = batch_ + batch_count_;
  if (batch_count_ > 1) return true;
  next_ = spoilt_end_;
  passed_.push_back(batch_);
  return false;
}

SampleCount Draws::passed_from(SampleCount from) const {
  return passed_.end() - std::lower_bound(passed_.begin(), passed_.end(), from);
}

SampleCount Draws::left(RoundIndex round) const {
  SampleCount left = 0;
  for (const wire::SampleLease& lease : leases_) {
    const SampleCount from = std::max(next_, lease.number);
    if (lease.last_round >= round) left += std::max<SampleCount>(0, lease.number + lease.count - from);
  }
  return left;
}

SampleCount Draws::end() const { return leases_.empty() ? 0 : leases_.back().number + leases_.back().count; }

}  // namespace starling::session
