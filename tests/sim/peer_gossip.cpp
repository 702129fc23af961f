// The peer's gossip between rounds, like the daemon's (client/daemon/project_run_gossip.cpp), of one bucket.
#include <chrono>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/buckets.h"
#include "tests/sim/peer.h"

namespace starling::sim {
namespace {

// a live member is not left out of a meeting that it has begun
constexpr Duration kGossipStall = std::chrono::hours(1);

wire::Bucket only_bucket(const wire::RunManifest& manifest) {
  const std::vector<wire::Bucket> buckets = wire::buckets(manifest.model);
  VERIFY(buckets.size() == 1);
  return buckets.front();
}

}  // namespace

Peer::GossipState::GossipState(const wire::RunManifest& manifest, const PeerId& self)
    : decisions(*manifest.local, self, only_bucket(manifest)),
      step(*manifest.local, only_bucket(manifest).count),
      sent(only_bucket(manifest).count),
      mixed(only_bucket(manifest).count) {}

void Peer::mix() {
  GossipState& gossip = *gossip_;
  const session::Gossip::Order order = gossip.decisions.on_stepped(world_.scheduler().now());
  if (order.send_out) announce_end(gossip.under_way, gossip.ended);
  if (order.take_in) {
    if (order.measure) {
      gossip.decisions.on_measured(gossip.step.distance(gossip.sent, gossip.mixed, learner_->own()));
    }
    gossip.step.take_in(gossip.sent, gossip.mixed, learner_->own());
  }
  if (!order.send_out) return pump();
  gossip.step.send_out(parameters(), learner_->own(), gossip.sent);
  meet(gossip.decisions.on_sent_out(world_.scheduler().now()));
  pump();
}

void Peer::meet(const std::optional<swarm::GossipGroup>& meeting) {
  if (!meeting) return;
  GossipState& gossip = *gossip_;
  announce_end(gossip.under_way, gossip.ended);
  gossip.under_way = averaging_in(meeting->group, meeting->self, 1);
  averaging::AllReduceOptions options;
  options.latecomers = false;
  options.stall_floor = options.straggler_floor = kGossipStall;
  options.weight_max = 1;
  begin(*gossip.under_way, {1, gossip.sent, gossip.mixed}, options);
}

void Peer::on_mixed(const GroupId& id, const averaging::AveragingOutcome& outcome) {
  if (!gossip_ || !gossip_->under_way || gossip_->under_way->group.id != id) return;
  world_.on_mixed(*this, gossip_->under_way->group, outcome);
  meet(gossip_->decisions.on_mixed(world_.scheduler().now(), id, outcome));
  pump();
}

void Peer::begin_gossip(const wire::RoundReport& report) {
  if (!gossip_) return;
  std::vector<PeerId> members;
  for (const wire::Contribution& contribution : report.contributions) members.push_back(contribution.peer);
  gossip_->decisions.begin_round(world_.scheduler().now(), gossip_->last, members, report.round + 1,
                                 report.state_digest);
  gossip_->step.begin_round();
}

void Peer::end_gossip() {
  if (!gossip_) return;
  gossip_->decisions.end_round();
  announce_end(gossip_->under_way, gossip_->ended);
}

}  // namespace starling::sim
