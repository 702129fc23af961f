#include "coordinator/core/join_grace.h"

#include <algorithm>
#include <utility>

#include "shared/run/model_layout.h"

namespace starling::core {

std::optional<Duration> JoinGrace::on_call(TimePoint now, const RunStatus& run, Member& member) {
  Grace& grace = member.grace;
  if (member.catches_up()) {
    if (grace.behind_since == kNever) grace.behind_since = now;
    return std::nullopt;
  }
  if (!member.ready()) return std::nullopt;
  const TimePoint since = std::exchange(grace, {}).behind_since;
  if (since == kNever) return std::nullopt;
  // Only a download of this round's state counts: its attempts in earlier rounds failed.
  return now - std::max(since, run.round_began);
}

// Returns the time that the state takes by the member's own line; zero: not known.
Duration JoinGrace::download_time(const Member& member) const {
  const double line = member.speeds.download_bytes_per_s;
  if (line <= 0) return {};
  const double seconds = static_cast<double>(wire::state_size(settings_.manifest) * sizeof(float)) / line;
  return from_seconds(std::min(seconds, 2 * to_seconds(settings_.options.join_grace.longest)));
}

Duration JoinGrace::of(const Member& member, const RunStatus& run) const {
  const CoordinatorOptions& options = settings_.options;
  const bool in_turn = run.round_began >= std::max(member.grace.again, member.left_out_until);
  if (!member.catches_up() || !member.standing.waited_for || !in_turn) return {};
  const Duration download = download_time(member);
  const Duration usual = usual_join_grace(run.rhythm, options);
  const Duration wanted = core::join_grace(run.rhythm, member.grace.rounds_held, download, options);
  // Accounts cost nothing, so all that are on probation are held for out of one bucket, however short their downloads.
  const bool own_bucket = wanted <= usual && member.voice;
  const bool from_common = wanted <= options.join_grace.longest && run.round_began >= long_again_;
  if (own_bucket || from_common) return wanted;
  if (!member.voice) return {};
  // Less would not help, except where its line alone would do.
  return download > Duration{} && download <= usual ? usual : Duration{};
}

bool JoinGrace::loads_in_vain(const Member& member, const RunStatus& run) const {
  if (run.state != wire::RunState::running || !member.catches_up() || !member.standing.waited_for) return false;
  if (of(member, run) > Duration{}) return false;
  const int held = member.grace.rounds_held;
  const Duration in_vain = held > 0 ? core::join_grace({}, held - 1, {}, settings_.options) : Duration{};
  return run.rhythm.round > Duration{} && std::max(download_time(member), in_vain) > run.rhythm.round;
}

void JoinGrace::on_planned(TimePoint now, const RunStatus& run, MemberTable& members, bool waited) {
  const CoordinatorOptions& options = settings_.options;
  const auto earned_in = [&](Duration spent) { return from_seconds(to_seconds(spent) / options.join_grace.share); };
  bool held_on_probation = false;
  for (auto& [peer, member] : members.all()) {
    const Duration held = of(member, run);
    // The plan does not wait for a member that missed its call: the round was not held open for it.
    if (held == Duration{} || missed_its_call(member, now)) continue;
    held_on_probation = held_on_probation || !member.voice;
    // No slow member, or one that never gets ready, holds up the swarm for long; and no member is given up.
    if (++member.grace.rounds_held >= options.join_grace.rounds_in_a_row) member.grace.again = now + earned_in(held);
  }
  const Duration took = now - run.round_began;
  if (!waited || (took <= usual_join_grace(run.rhythm, options) && !held_on_probation)) return;
  // A leaky bucket: the time that is spent is earned back by `share` of the time that passes.
  long_again_ = std::max(long_again_, now - earned_in(options.join_grace.saved_max)) + earned_in(took);
}

}  // namespace starling::core
