// The states of members and runs, as both ends name them.
#pragma once

#include <cstdint>
#include <string_view>

namespace starling::wire {

// The activity of a member. Only `training` and `averaging` members are planned into a round. A member reports
// `evaluating` only to a coordinator that has asked it to evaluate. One that is `holding` has no part in the run's
// rounds: it is too small for the trunk of the model, and holds cells of it.
enum class MemberPhase : std::uint8_t {
  joining,
  downloading,
  training,
  averaging,
  paused,
  leaving,
  evaluating,
  holding
};
std::string_view to_string(MemberPhase phase);

// The run's condition; members train while it is `running`.
enum class RunState : std::uint8_t { created, running, paused, complete };
std::string_view to_string(RunState state);

// The coordinator's finding whether others can dial a member. It dials the member itself: at the address its heartbeats
// come from, and the port they name.
enum class Reachability : std::uint8_t { unknown, reachable, blocked };
std::string_view to_string(Reachability reachability);

}  // namespace starling::wire
