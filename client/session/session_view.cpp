// The session as seen from outside: its phase on the wire, and for the volunteer one phase with one reason.
#include "client/session/session.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::session {
namespace {

std::optional<Activity> waiting_for_run(wire::RunState state) {
  switch (state) {
    case wire::RunState::created:
      return Activity{Phase::waiting, "the run has not been started", "the operator starts it"};
    case wire::RunState::paused:
      return Activity{Phase::waiting, "the operator paused the run", "the operator starts it again"};
    case wire::RunState::complete:
      return Activity{Phase::waiting, "the run is complete", "there is a new run"};
    case wire::RunState::running:
      break;
  }
  return std::nullopt;
}

// The phase of the group, unless batches go on meanwhile.
std::optional<Activity> round_activity(const RoundCycle& cycle, bool computes, bool paused) {
  if (cycle.is_busy() && computes && !paused) return Activity{Phase::training, "", ""};
  const std::string finishing = paused ? "finishing this round before the pause" : "";
  if (cycle.averages() || (paused && cycle.meeting() != nullptr)) {
    return Activity{Phase::averaging, paused ? finishing : "averaging with the group", "the group's average is in"};
  }
  if (cycle.step_is_under_way()) {
    return Activity{Phase::stepping, paused ? finishing : "applying the averaged gradient",
                    "the optimizer step is done"};
  }
  return std::nullopt;
}

}  // namespace

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
  if (cycle_.is_bound()) return wire::MemberPhase::averaging;
  if (pause_.requested) return wire::MemberPhase::paused;
  if (!options_.has_state) return wire::MemberPhase::holding;
  if (replica_.fetching()) return wire::MemberPhase::downloading;
  if (computation_.is_evaluation()) return wire::MemberPhase::evaluating;
  return replica_.synced() ? wire::MemberPhase::training : wire::MemberPhase::joining;
}

Activity Session::activity(TimePoint now) const {
  if (const std::optional<Activity> in_round = round_activity(cycle_, computation_.is_batch(), pause_.requested))
    return *in_round;
  if (computation_.is_evaluation()) return {Phase::evaluating, "measuring the held-out loss", "it is measured"};
  const bool put_off = computation_.waits_after_failure(now);
  if (put_off && computation_.lacks_data()) {
    if (!pause_.requested) return {Phase::waiting, computation_.failure(), "it has come"};
  } else if (put_off) {
    return {Phase::waiting, "the trainer failed: " + computation_.failure(), "the next try, in a moment"};
  }
  if (pause_.requested) return {Phase::paused, pause_.reason, "you resume"};
  if (last_reply_ == nullptr) {
    return {Phase::joining, link_.away(now) ? "the coordinator cannot be reached" : replica_.unsynced_reason(),
            "the coordinator answers"};
  }
  if (replica_.fetching()) {
    return {Phase::downloading, "downloading the model from other volunteers", "the download is complete"};
  }
  if (const std::optional<Activity> waiting = waiting_for_run(last_reply_->run_state)) return *waiting;
  if (!options_.has_state) return {Phase::training, "", ""};
  if (!replica_.synced()) return {Phase::waiting, replica_.unsynced_reason(), "the coordinator names a donor"};
  if (!computation_.idle()) return {Phase::training, "", ""};
  if (left_out_ == LeftOut::with_few) {
    return {Phase::waiting, "the coordinator cannot be reached, and only half of the group or less is left",
            "the coordinator answers"};
  }
  if (supply_.lacking == Lacking::room) {
    return {Phase::waiting, "as much is computed here as a round takes", "the others average it"};
  }
  if (supply_.lacking == Lacking::samples) {
    return {Phase::waiting, "all samples dealt to this computer are computed", "the coordinator deals more"};
  }
  return {Phase::training, "", ""};
}

Session::View Session::view(TimePoint now) const {
  View view;
  view.activity = activity(now);
  view.state_round = replica_.round();
  view.state_digest = replica_.digest();
  view.synced = replica_.synced();
  view.samples_this_round = progress_.samples();
  view.samples_total = totals_.samples;
  view.rounds_done = totals_.rounds_done;
  view.rounds_failed = totals_.rounds_failed;
  view.samples_per_s = progress_.samples_per_s();
  view.loss = totals_.last_loss;
  view.evaluation = evaluations_.last_measured();
  view.reports_waiting = reports_.size();
  if (!pause_.requested) view.trouble = computation_.trouble(now);
  view.coordinator_away = link_.away(now);
  view.plan = told_.plan_reason;
  view.last_reply = last_reply_;
  view.checked = audits_.checked();
  return view;
}

}  // namespace starling::session
