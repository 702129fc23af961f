#include "client/daemon/session_status.h"

#include <algorithm>
#include <string>

#include "shared/protocol/heartbeat_reply.h"

namespace starling::daemon {
namespace {

wire::DaemonPhase shown(session::Phase phase) {
  using session::Phase;
  using wire::DaemonPhase;
  switch (phase) {
    case Phase::joining:
      return DaemonPhase::joining;
    case Phase::waiting:
      return DaemonPhase::waiting;
    case Phase::downloading:
      return DaemonPhase::downloading;
    case Phase::training:
      return DaemonPhase::training;
    case Phase::averaging:
      return DaemonPhase::averaging;
    case Phase::stepping:
      return DaemonPhase::stepping;
    case Phase::evaluating:
      return DaemonPhase::evaluating;
    case Phase::paused:
      return DaemonPhase::paused;
  }
  return DaemonPhase::idle;
}

}  // namespace

void describe_session(const session::Session::View& view, wire::DaemonStatus& status) {
  status.phase = shown(view.activity.phase);
  status.reason = view.activity.reason;
  status.ends_when = view.activity.ends_when;
  if (!view.trouble.empty()) status.problems.push_back("the trainer fails: " + view.trouble);
  status.membership.coordinator_away = view.coordinator_away;
  status.training.round = view.state_round;
  status.training.state_round = view.state_round;
  status.training.state_digest = view.state_digest;
  status.training.synced = view.synced;
  status.training.samples_this_round = view.samples_this_round;
  status.training.samples_total = view.samples_total;
  status.training.samples_per_s = view.samples_per_s;
  status.training.loss = view.loss;
  if (view.evaluation.has_value()) {
    status.training.validation_bits_per_byte = view.evaluation->bits_per_byte;
    status.training.validation_accuracy = view.evaluation->accuracy;
    status.training.validation_round = view.evaluation->round;
  }
  status.training.rounds_done = view.rounds_done;
  status.training.rounds_failed = view.rounds_failed;
  status.training.reports_waiting = static_cast<std::int64_t>(view.reports_waiting);
  status.swarm.plan = view.plan;
  status.checked = view.checked;
  if (view.checked && !view.checked->verdict.empty()) status.problems.push_back(view.checked->verdict);
  if (view.last_reply == nullptr) return;
  const wire::HeartbeatReply& reply = *view.last_reply;
  status.membership.run_state = std::string(wire::to_string(reply.run_state));
  status.training.round = std::max(view.state_round, reply.round);
  status.training.samples_credited = reply.credited.samples;
  status.training.credit = reply.credited.credit;
  status.swarm.samples_accumulated = reply.swarm.samples_accumulated;
  status.swarm.samples_per_s = reply.swarm.samples_per_s;
  status.swarm.size = reply.swarm.size;
}

}  // namespace starling::daemon
