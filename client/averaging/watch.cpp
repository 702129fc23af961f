#include "client/averaging/watch.h"

#include <algorithm>

namespace starling::averaging {
namespace {

// Results depend on others' contributions, and done on others' results: those have their own, shorter limits.
constexpr int kResultWaits = 3;
constexpr int kDoneWaits = 6;

// A sender that costs the others less than this is not worth a complaint.
constexpr Duration kSlowFloor = std::chrono::milliseconds(1500);

Duration scaled(Duration duration, double factor) { return from_seconds(to_seconds(duration) * factor); }

}  // namespace

void Watch::on_begun(TimePoint now, Rank rank) {
  Pulse& pulse = pulses_[rank];
  pulse.begun = pulse.heard = pulse.useful = pulse.sent = pulse.fed = now;
  last_begun_ = now;
}

void Watch::on_heard(TimePoint now, Rank rank, bool useful) {
  Pulse& pulse = pulses_[rank];
  pulse.heard_gap = std::max(pulse.heard_gap, now - pulse.heard);
  pulse.heard = now;
  if (!useful) return;
  pulse.useful_gap = std::max(pulse.useful_gap, now - pulse.useful);
  pulse.useful = now;
}

void Watch::on_sent(TimePoint now, Rank rank, bool data) {
  pulses_[rank].sent = now;
  if (data) pulses_[rank].fed = now;
}

void Watch::on_contributed(TimePoint now, Rank rank) { pulses_[rank].contributed = now - pulses_[rank].begun; }

void Watch::on_overslept(Duration slept) {
  for (TimePoint* time : {&last_begun_, &view_at_, &all_held_at_}) *time += slept;
  for (Pulse& pulse : pulses_) {
    for (TimePoint* time : {&pulse.begun, &pulse.heard, &pulse.useful, &pulse.sent, &pulse.fed}) *time += slept;
  }
}

Duration Watch::patience(Duration floor, Duration gap) const {
  return std::max(floor, std::min(options_.silence_max, scaled(gap, options_.silence_factor)));
}

Watch::Deadline Watch::deadline(Rank rank, const Waits& waits) const {
  const Pulse& pulse = pulses_[rank];
  Deadline first;
  TimePoint doubt = kNever;
  const auto consider = [&](TimePoint since, Duration limit, std::string_view reason, wire::Fault fault) {
    if (since + limit < first.at) first = {since + limit, reason, fault};
    doubt = std::min(doubt, since + limit / 2);
  };
  if (waits.life)
    consider(pulse.heard, patience(options_.silence_floor, pulse.heard_gap), "fell silent", wire::Fault::silent);
  if (waits.answer) {
    consider(std::max(pulse.useful, view_at_), patience(options_.stall_floor, pulse.useful_gap),
             "is alive, but does not answer", wire::Fault::slow);
  }
  if (waits.results || waits.done) {
    const TimePoint since = std::max({pulse.useful, pulse.fed, last_begun_, view_at_, all_held_at_});
    const Duration floor = (waits.results ? kResultWaits : kDoneWaits) * options_.stall_floor;
    consider(since, std::max(floor, since - started_), "is alive, but makes no progress", wire::Fault::slow);
  }
  first.doubt = doubt;
  return first;
}

Duration Watch::pace(std::size_t contributors) const {
  std::vector<Duration> times;
  for (const Pulse& pulse : pulses_) {
    if (pulse.contributed != kNoPace) times.push_back(pulse.contributed);
  }
  const std::size_t half = (contributors + 1) / 2;
  if (half == 0 || times.size() < half) return kNoPace;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(half - 1);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

bool Watch::was_slow(Rank rank, Duration pace) const {
  const Duration took = pulses_[rank].contributed;
  return took != kNoPace && pace != kNoPace && took > kSlowFloor + scaled(pace, options_.straggler_factor);
}

TimePoint Watch::straggler_deadline(Rank rank, Duration pace) const {
  const Pulse& pulse = pulses_[rank];
  const TimePoint stalled = std::max(pulse.useful, pulse.begun) + patience(options_.stall_floor, pulse.useful_gap);
  if (pace == kNoPace) return stalled;
  return std::min(stalled, pulse.begun + std::max(options_.straggler_floor, scaled(pace, options_.straggler_factor)));
}

}  // namespace starling::averaging
