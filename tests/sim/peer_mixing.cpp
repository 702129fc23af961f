// The peer's gossip between rounds, like the daemon's (client/daemon/project_run_mixing.cpp), of one bucket.
#include <chrono>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/buckets.h"
#include "tests/sim/peer.h"

namespace starling::sim {
namespace {

// a live member is not left out of a meeting that it has begun
constexpr Duration kMixingStall = std::chrono::hours(1);

wire::Bucket only_bucket(const wire::RunManifest& manifest) {
  const std::vector<wire::Bucket> buckets = wire::buckets(manifest.model);
  VERIFY(buckets.size() == 1);
  return buckets.front();
}

}  // namespace

Peer::Mixings::Mixings(const wire::RunManifest& manifest, const PeerId& self)
    : decisions(*manifest.local, self, only_bucket(manifest)),
      step(*manifest.local, only_bucket(manifest).count),
      sent(only_bucket(manifest).count),
      mixed(only_bucket(manifest).count) {}

void Peer::mix() {
  Mixings& mixings = *mixings_;
  const session::Mixing::Order order = mixings.decisions.on_stepped(world_.scheduler().now());
  if (order.send_out) take_leave(mixings.under_way, mixings.ended);
  if (order.take_in) {
    if (order.measure) {
      mixings.decisions.on_measured(mixings.step.distance(mixings.sent, mixings.mixed, learner_->own()));
    }
    mixings.step.take_in(mixings.sent, mixings.mixed, learner_->own());
  }
  if (!order.send_out) return pump();
  mixings.step.send_out(parameters(), learner_->own(), mixings.sent);
  meet(mixings.decisions.on_sent_out(world_.scheduler().now()));
  pump();
}

void Peer::meet(const std::optional<swarm::MixingGroup>& mixing) {
  if (!mixing) return;
  Mixings& mixings = *mixings_;
  take_leave(mixings.under_way, mixings.ended);
  mixings.under_way = averaging_in(mixing->group, mixing->self, 1);
  averaging::AllReduceOptions options;
  options.latecomers = false;
  options.stall_floor = options.straggler_floor = kMixingStall;
  options.weight_max = 1;
  begin(*mixings.under_way, {1, mixings.sent, mixings.mixed}, options);
}

void Peer::on_mixed(const GroupId& id, const averaging::AveragingOutcome& outcome) {
  if (!mixings_ || !mixings_->under_way || mixings_->under_way->group.id != id) return;
  world_.on_mixed(*this, mixings_->under_way->group, outcome);
  meet(mixings_->decisions.on_mixed(world_.scheduler().now(), id, outcome));
  pump();
}

void Peer::begin_mixings(const wire::RoundReport& report) {
  if (!mixings_) return;
  std::vector<PeerId> members;
  for (const wire::Contribution& contribution : report.contributions) members.push_back(contribution.peer);
  mixings_->decisions.begin_round(world_.scheduler().now(), mixings_->last, members, report.round + 1,
                                  report.state_digest);
  mixings_->step.begin_round();
}

void Peer::end_mixings() {
  if (!mixings_) return;
  mixings_->decisions.end_round();
  take_leave(mixings_->under_way, mixings_->ended);
}

}  // namespace starling::sim
