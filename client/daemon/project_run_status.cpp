// The run in the volunteer's status.
#include <algorithm>
#include <map>
#include <string>

#include "client/daemon/limit_warning.h"
#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"
#include "shared/net/line.h"
#include "shared/protocol/heartbeat.h"

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

void ProjectRun::count_traffic(TrafficCounters& counters) const {
  if (!parts_->network) return;
  const transport::NetworkStats stats = parts_->network->stats();
  // Relayed bytes come in and go out again.
  const double relayed = 2 * net::kOnTheLine * static_cast<double>(stats.relay.serving.bytes_total);
  counters.averaging = stats.round_wire_bytes + static_cast<std::int64_t>(relayed);
  counters.models = stats.state_wire_bytes + courier_->wire_bytes();
  if (parts_->shards != nullptr) counters.models += parts_->shards->wire_bytes();
}

void ProjectRun::note_peers(const wire::GroupInfo& group, averaging::Rank self) {
  std::map<PeerId, SampleCount> brought;  // samples in the round before
  for (const wire::PeerView& peer : peers_.peers) brought[peer.peer] = peer.samples;
  peers_ = {group.round, static_cast<std::int64_t>(group.members.size()), {}};
  // The first members of a large group, and this one.
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
    const bool is_self = rank == static_cast<std::size_t>(self);
    if (peers_.peers.size() + (is_self ? 0 : 1) > wire::kPeersShownMax - 1 && !is_self) continue;
    const wire::GroupMember& member = group.members[rank];
    const double part = static_cast<double>(member.part_floats) / static_cast<double>(group.vector_floats);
    peers_.peers.push_back({member.endpoint.peer, std::string(wire::to_string(member.role)),
                            brought[member.endpoint.peer], part, !member.endpoint.relay.is_zero(), is_self});
  }
}

wire::PeersView ProjectRun::peers() const {
  wire::PeersView view = peers_;
  if (!parts_->network) return view;
  std::map<PeerId, transport::PeerSpeed> speeds;
  for (const transport::PeerSpeed& speed : parts_->network->stats().peers) speeds[speed.peer] = speed;
  for (wire::PeerView& peer : view.peers) {
    const transport::PeerSpeed& speed = speeds[peer.peer];
    peer.upload_bytes_per_s = speed.upload_bytes_per_s;
    peer.download_bytes_per_s = speed.download_bytes_per_s;
    peer.round_trip_ms = 1000 * to_seconds(speed.round_trip);
  }
  return view;
}

void ProjectRun::note_round(const wire::RoundReport& report) {
  std::map<PeerId, SampleCount> brought;
  wire::HistoryPoint point;
  for (const wire::Contribution& contribution : report.contributions) {
    brought[contribution.peer] = contribution.samples;
    point.swarm_samples += contribution.samples;
  }
  for (wire::PeerView& peer : peers_.peers) peer.samples = brought[peer.peer];
  const auto reply = parts_->session->view(threads_.clock.now()).last_reply;
  point.round = report.round;
  point.samples = brought[parts_->key.peer_id()];
  point.loss = report.loss;
  point.credit = reply != nullptr ? reply->credited.credit : 0;
  point.bytes = report.bytes_sent + report.bytes_received;
  listener_.round_done(point);
}

void ProjectRun::describe(wire::DaemonStatus& status) const {
  const session::Session::View view = parts_->session->view(threads_.clock.now());
  status.phase = shown(view.activity.phase);
  status.reason = view.activity.reason;
  status.ends_when = view.activity.ends_when;
  for (const std::string* problem : {&journal_problem_, &checkpoint_problem_}) {
    if (!problem->empty()) status.problems.push_back(*problem);
  }
  if (!notice_.empty()) status.problems.push_back("the coordinator says: " + notice_);
  status.problems.insert(status.problems.end(), parts_->damaged.begin(), parts_->damaged.end());
  status.membership.run_id = parts_->manifest.run_id;
  status.membership.run_title = parts_->manifest.title;
  status.membership.listen_port = parts_->network ? parts_->network->port() : 0;
  status.membership.coordinator_away = view.coordinator_away;
  status.training.round = view.state_round;
  status.training.state_round = view.state_round;
  status.training.state_digest = view.state_digest;
  status.training.synced = view.synced;
  status.training.samples_this_round = view.samples_this_round;
  status.training.samples_total = view.samples_total;
  status.training.samples_per_s = view.samples_per_s;
  status.swarm.plan = view.plan;
  status.training.loss = view.loss;
  if (view.evaluation.has_value()) {
    status.training.validation_bits_per_byte = view.evaluation->bits_per_byte;
    status.training.validation_accuracy = view.evaluation->accuracy;
    status.training.validation_round = view.evaluation->round;
  }
  status.training.rounds_done = view.rounds_done;
  status.training.rounds_failed = view.rounds_failed;
  if (parts_->gossip != nullptr) {
    status.local_steps.mixings = parts_->gossip->mixed();
    status.local_steps.mixings_missed = parts_->gossip->missed();
  }
  status.local_steps.spread = consensus_distance_;
  status.training.reports_waiting = static_cast<std::int64_t>(view.reports_waiting);
  status.swarm.target_batch_size = parts_->manifest.target_batch_size;
  if (view.last_reply != nullptr) {
    const wire::HeartbeatReply& reply = *view.last_reply;
    status.membership.run_state = std::string(wire::to_string(reply.run_state));
    status.training.round = std::max(view.state_round, reply.round);
    status.swarm.samples_accumulated = reply.swarm.samples_accumulated;
    status.swarm.samples_per_s = reply.swarm.samples_per_s;
    status.swarm.size = reply.swarm.size;
    status.training.samples_credited = reply.credited.samples;
    status.training.credit = reply.credited.credit;
  }
  if (parts_->network) {
    const transport::NetworkStats stats = parts_->network->stats();
    describe_reach(stats, status.reach);
    status.network.upload_bytes_per_s = stats.upload_bytes_per_s;
    status.network.download_bytes_per_s = stats.download_bytes_per_s;
    status.network.bytes_sent = stats.round_bytes_sent + stats.state_bytes_sent;
    status.network.bytes_received = stats.round_bytes_received + stats.state_bytes_received;
  }
}

std::string ProjectRun::limit_warning(const Permission& permission) const {
  ExchangeNeeds needs;
  needs.traffic = wire::round_traffic(parts_->manifest);
  const session::Session::View view = parts_->session->view(threads_.clock.now());
  if (view.last_reply != nullptr && view.last_reply->swarm.samples_per_s > 0) {
    needs.batch_s = static_cast<double>(parts_->manifest.target_batch_size) / view.last_reply->swarm.samples_per_s;
    needs.swarm_size = view.last_reply->swarm.size;
  }
  return daemon::limit_warning(needs, permission.upload_bytes_per_s, permission.download_bytes_per_s);
}

}  // namespace starling::daemon
