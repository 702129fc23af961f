// The run as the volunteer sees it.
#include <algorithm>

#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"

namespace starling::daemon {

void ProjectRun::count_traffic(TrafficCounters& counters) const {
  if (!parts_->network) return;
  const transport::NetworkStats stats = parts_->network->stats();
  // What is passed on comes in and goes out again.
  counters.averaging = stats.round_bytes_sent + stats.round_bytes_received + 2 * stats.relay.serving.bytes_total;
  counters.models = stats.state_bytes_sent + stats.state_bytes_received;
}

void ProjectRun::describe(wire::DaemonStatus& status) const {
  const session::Session::View view = parts_->session->view(threads_.clock.now());
  status.phase = std::string(session::to_string(view.activity.phase));
  status.reason = view.activity.reason;
  status.ends_when = view.activity.ends_when;
  for (const std::string* problem : {&journal_problem_, &checkpoint_problem_}) {
    if (!problem->empty()) status.problems.push_back(*problem);
  }
  if (!notice_.empty()) status.problems.push_back("the coordinator says: " + notice_);
  status.problems.insert(status.problems.end(), parts_->damaged.begin(), parts_->damaged.end());
  status.run_id = parts_->manifest.run_id;
  status.listen_port = parts_->network ? parts_->network->port() : 0;
  status.coordinator_away = view.coordinator_away;
  status.round = view.state_round;
  status.state_round = view.state_round;
  status.state_digest = view.state_digest;
  status.synced = view.synced;
  status.samples_this_round = view.samples_this_round;
  status.samples_total = view.samples_total;
  status.samples_per_s = view.samples_per_s;
  status.plan = view.plan;
  status.loss = view.loss;
  if (view.evaluation.has_value()) {
    status.validation_bits_per_byte = view.evaluation->bits_per_byte;
    status.validation_round = view.evaluation->round;
  }
  status.rounds_done = view.rounds_done;
  status.rounds_failed = view.rounds_failed;
  status.reports_waiting = static_cast<std::int64_t>(view.reports_waiting);
  status.target_batch_size = parts_->manifest.target_batch_size;
  if (view.last_reply.has_value()) {
    const wire::HeartbeatReply& reply = *view.last_reply;
    status.run_state = std::string(wire::to_string(reply.run_state));
    status.round = std::max(view.state_round, reply.round);
    status.samples_accumulated = reply.samples_accumulated;
    status.swarm_samples_per_s = reply.swarm_samples_per_s;
    status.swarm_size = reply.swarm_size;
    status.samples_credited = reply.credited_samples;
    status.credit = reply.credit;
  }
  if (parts_->network) {
    const transport::NetworkStats stats = parts_->network->stats();
    describe_reach(stats, status.reach);
    status.upload_bytes_per_s = stats.upload_bytes_per_s;
    status.download_bytes_per_s = stats.download_bytes_per_s;
    status.bytes_sent = stats.round_bytes_sent + stats.state_bytes_sent;
    status.bytes_received = stats.round_bytes_received + stats.state_bytes_received;
  }
}

}  // namespace starling::daemon
