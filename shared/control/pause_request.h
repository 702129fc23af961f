// The volunteer's request by a button or a command, as opposed to rules: pause now, for a while, after this round;
// leave the graphics card alone. Kept on disk, so that a restart does not forget it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::wire {

// The moment at which training stops.
enum class PauseKind : std::uint8_t { none, after_round, now };

// The pause ends at a wall-clock time, so that it ends when it was said to, however long the computer was off.
struct PauseRequest {
  PauseKind kind = PauseKind::none;
  WallTime until;      // zero: until resumed
  std::string reason;  // the volunteer's words, or a program's; may be empty
  bool gpu = false;    // the graphics card alone
  WallTime gpu_until;

  friend bool operator==(const PauseRequest&, const PauseRequest&) = default;
};

constexpr std::size_t kPauseReasonBytesMax = 1024;

std::string encode(const PauseRequest& request);
Result<PauseRequest> decode_pause_request(std::string_view json);

}  // namespace starling::wire
