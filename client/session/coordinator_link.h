// When to call the coordinator next, and whether it is away. Pure: the daemon does the calling.
#pragma once

#include <cstdint>
#include <random>

#include "shared/base/clock.h"

namespace starling::session {

// Times between calls that fail, and the silence after which the coordinator counts as away.
struct CoordinatorLinkOptions {
  Duration retry_first = std::chrono::milliseconds(250);  // after the first failed call, doubling with jitter
  Duration retry_max = std::chrono::seconds(5);
  Duration away_floor = std::chrono::seconds(2);  // silence shorter than this is never "away"
};

class CoordinatorLink {
 public:
  explicit CoordinatorLink(std::uint64_t seed, CoordinatorLinkOptions options = {});

  // True when a call should go out at `now` (and none is under way).
  [[nodiscard]] bool due(TimePoint now) const { return !in_flight_ && now >= next_call_; }
  [[nodiscard]] TimePoint next_call() const { return in_flight_ ? kNever : next_call_; }
  // Notes that there is something worth reporting: a call goes out as soon as the call under way, if any, is back.
  void hurry(TimePoint now);

  void on_sent(TimePoint now);
  void on_reply(TimePoint now, Duration next_interval);
  void on_failed(TimePoint now);

  // True if the last calls failed, and silence has lasted longer than the coordinator's own rhythm explains.
  [[nodiscard]] bool away(TimePoint now) const;

 private:
  CoordinatorLinkOptions options_;
  std::mt19937_64 rng_;
  bool in_flight_ = false;
  bool hurry_ = false;
  int failures_ = 0;
  TimePoint next_call_{};
  TimePoint silent_since_ = kNever;  // since the last reply, or the first call ever
  Duration interval_ = std::chrono::seconds(1);
};

}  // namespace starling::session
