// The session as seen from outside: its phase on the wire, and for the volunteer one phase with one reason.
#include "client/session/session.h"

namespace starling::session {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::joining:
      return "joining";
    case Phase::waiting:
      return "waiting";
    case Phase::downloading:
      return "downloading";
    case Phase::training:
      return "training";
    case Phase::averaging:
      return "averaging";
    case Phase::stepping:
      return "stepping";
    case Phase::evaluating:
      return "evaluating";
    case Phase::paused:
      return "paused";
  }
  return "unknown";
}

wire::MemberPhase Session::member_phase() const {
  if (averaging_ || outcome_.has_value()) return wire::MemberPhase::averaging;
  if (paused_) return wire::MemberPhase::paused;
  if (fetching_) return wire::MemberPhase::downloading;
  if (computing_ == Computing::evaluation) return wire::MemberPhase::evaluating;
  return synced_ ? wire::MemberPhase::training : wire::MemberPhase::joining;
}

Activity Session::activity(TimePoint now) const {
  if ((averaging_ || stepping_) && computing_ == Computing::batch && !paused_) return {Phase::training, "", ""};
  const std::string finishing = paused_ ? "finishing this round before the pause" : "";
  if (averaging_ || (paused_ && meeting_.has_value() && !outcome_.has_value())) {
    return {Phase::averaging, paused_ ? finishing : "averaging with the group", "the group's average is in"};
  }
  if (stepping_) {
    return {Phase::stepping, paused_ ? finishing : "applying the averaged gradient", "the optimizer step is done"};
  }
  if (computing_ == Computing::evaluation) return {Phase::evaluating, "measuring the held-out loss", "it is measured"};
  if (compute_failures_ > 0 && now < compute_not_before_) {
    return {Phase::waiting, "the trainer failed: " + compute_failure_, "the next try, in a moment"};
  }
  if (paused_) return {Phase::paused, paused_reason_, "you resume"};
  if (!last_reply_.has_value()) {
    return {Phase::joining, link_.away(now) ? "the coordinator cannot be reached" : unsynced_reason_,
            "the coordinator answers"};
  }
  if (fetching_) return {Phase::downloading, "downloading the model from other volunteers", "the download is complete"};
  switch (last_reply_->run_state) {
    case wire::RunState::created:
      return {Phase::waiting, "the run has not been started", "the operator starts it"};
    case wire::RunState::paused:
      return {Phase::waiting, "the operator paused the run", "the operator starts it again"};
    case wire::RunState::complete:
      return {Phase::waiting, "the run is complete", "there is a new run"};
    case wire::RunState::running:
      break;
  }
  if (!synced_) return {Phase::waiting, unsynced_reason_, "the coordinator names a donor"};
  if (waits_for_most_ && computing_ == Computing::nothing) {
    return {Phase::waiting, "the coordinator cannot be reached, and only half of the group or less is left",
            "the coordinator answers"};
  }
  if (round_is_full_ && computing_ == Computing::nothing) {
    return {Phase::waiting, "as much is computed here as a round takes", "the others average it"};
  }
  if (without_samples_ && computing_ == Computing::nothing) {
    return {Phase::waiting, "all samples dealt to this computer are computed", "the coordinator deals more"};
  }
  return {Phase::training, "", ""};
}

Session::View Session::view(TimePoint now) const {
  View view;
  view.activity = activity(now);
  view.state_round = state_round_;
  view.state_digest = state_digest_;
  view.synced = synced_;
  view.samples_this_round = progress_.samples();
  view.samples_total = samples_total_;
  view.rounds_done = rounds_done_;
  view.rounds_failed = rounds_failed_;
  view.samples_per_s = progress_.samples_per_s();
  view.loss = last_loss_;
  view.evaluation = evaluation_;
  view.reports_waiting = reports_.size();
  view.coordinator_away = link_.away(now);
  view.plan = plan_reason_;
  view.last_reply = last_reply_;
  return view;
}

}  // namespace starling::session
