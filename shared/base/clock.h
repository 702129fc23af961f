// The two clocks: a monotonic one for every wait and deadline, a wall clock for what people read
// and for certificate times. Decisions take a TimePoint as an argument; only shells own a Clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace starling {

using Duration = std::chrono::nanoseconds;

// Tag of the monotonic time line: no epoch, never goes back. Simulated time uses the same type.
struct MonotonicTime {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicTime>;
  static constexpr bool is_steady = true;
};
using TimePoint = MonotonicTime::time_point;

// Milliseconds since 1970-01-01 UTC; may jump, so it never decides how long to wait.
struct WallTime {
  std::int64_t unix_ms = 0;
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
};

constexpr TimePoint kNever = TimePoint::max();

constexpr double to_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
constexpr std::int64_t to_ms(Duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); }
constexpr Duration from_ms(std::int64_t ms) { return std::chrono::milliseconds(ms); }
constexpr Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
  [[nodiscard]] virtual WallTime wall_now() const = 0;
};

// The machine's own clocks. Stateless; may be used from any thread.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] WallTime wall_now() const override;
};

}  // namespace starling
