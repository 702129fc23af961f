#include "client/session/round_cycle.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"
#include "shared/swarm/successor.h"

namespace starling::session {

void RoundCycle::meet(Meeting meeting) {
  VERIFY(!is_bound());
  phase_ = std::move(meeting);
}

void RoundCycle::call_off() {
  VERIFY(!averages() && !step_is_under_way());
  phase_ = Gathering{};
}

const Meeting& RoundCycle::begin_averaging() {
  VERIFY(meeting() != nullptr);
  return phase_.emplace<Averaging>(Averaging{std::get<Meeting>(std::exchange(phase_, Gathering{}))}).meeting;
}

void RoundCycle::on_averaged(averaging::AveragingOutcome outcome) {
  VERIFY(averages());
  auto [meeting] = std::get<Averaging>(std::exchange(phase_, Gathering{}));
  phase_ = Stepping{std::move(meeting), std::move(outcome)};
}

void RoundCycle::on_left_group() {
  VERIFY(averages());
  left_group_ = std::get<Averaging>(phase_).meeting.group.id;
  phase_ = Gathering{};
  last_.reset();
}

void RoundCycle::begin_step() {
  VERIFY(stepping() != nullptr && !stepping()->under_way);
  std::get<Stepping>(phase_).under_way = true;
}

void RoundCycle::on_step_failed(TimePoint not_before) {
  VERIFY(step_is_under_way());
  std::get<Stepping>(phase_).under_way = false;
  std::get<Stepping>(phase_).not_before = not_before;
}

RoundCycle::Stepping RoundCycle::finish() {
  VERIFY(step_is_under_way());
  Stepping done = std::get<Stepping>(std::exchange(phase_, Gathering{}));
  last_.reset();
  const auto came = [](SampleCount samples) { return samples > 0; };
  const std::vector<SampleCount>& samples = done.outcome.samples;
  if (std::any_of(samples.begin(), samples.end(), came))
    last_ = LastRound{done.meeting.group, samples, done.outcome.result_digest};
  return done;
}

std::optional<Meeting> RoundCycle::successor(RoundIndex round, const Digest& state, const PeerId& self) const {
  if (!last_ || last_->group.round + 1 != round) return std::nullopt;
  if (last_->group.grid) return std::nullopt;  // this member knows its own column only
  wire::GroupInfo group = swarm::plan_successor(last_->group, last_->contributed, state);
  for (averaging::Rank rank = 0; rank < group.members.size(); ++rank) {
    if (group.members[rank].endpoint.peer == self) return Meeting{std::move(group), rank, {}};
  }
  return std::nullopt;
}

}  // namespace starling::session
