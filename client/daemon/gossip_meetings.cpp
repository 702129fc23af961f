#include "client/daemon/gossip_meetings.h"

#include <utility>

#include "client/daemon/average_request.h"

namespace starling::daemon {

using averaging::AveragingOutcome;

GossipMeetings::GossipMeetings(RunThreads& threads, std::unique_ptr<rounds::Gossip> gossip,
                               trainer_link::TrainerProcess& trainer, transport::PeerNetwork& network)
    : threads_(threads), gossip_(std::move(gossip)), trainer_(trainer), network_(network) {
  if (gossip_ == nullptr) return;
  trainer_.on_bucket_stepped([this](const wire::Bucket& bucket) { on_bucket_stepped(bucket); });
}

void GossipMeetings::on_round_planned(const wire::GroupInfo& plan) {
  end_round();
  if (gossip_ != nullptr) gossip_->on_round_planned(plan);
}

void GossipMeetings::end_round() {
  if (gossip_ == nullptr) return;
  gossip_->end_round();
  for (const wire::Bucket& bucket : gossip_->buckets()) network_.end_gossip(bucket.number);
}

void GossipMeetings::begin_round(const wire::RoundReport& report, double distance) {
  if (gossip_ == nullptr) return;
  gossip_->begin_round(threads_.now(), report, distance);
  threads_.on_trainer([this] { gossip_->begin_steps(); });
}

// Runs on the trainer thread, in the middle of a batch.
void GossipMeetings::on_bucket_stepped(const wire::Bucket& bucket) {
  const std::int64_t child = trainer_.view().starts;
  const bool began = std::exchange(stepped_child_, child) != child;
  if (began) gossip_->forget_steps();
  rounds::BucketGossip::Order order;
  threads_.decide([&](TimePoint now) {
    order = gossip_->on_stepped(now, bucket.number, began);
    if (order.send_out) network_.end_gossip(bucket.number);
  });
  const auto distance = gossip_->carry_out(order, bucket.number, trainer_.own_parameters(), trainer_.state());
  if (!distance && !order.send_out) return;
  threads_.deliver([this, number = bucket.number, distance, sent = order.send_out](TimePoint now) {
    if (distance) gossip_->on_measured(number, *distance);
    if (sent) meet(number, gossip_->on_sent_out(now, number));
  });
}

void GossipMeetings::meet(std::size_t bucket, const std::optional<rounds::Leg>& leg) {
  if (!leg) return;
  transport::AverageRequest request = average_request(*leg, threads_.now());
  request.done = [this, bucket, id = leg->group.id](const AveragingOutcome& outcome) {
    threads_.deliver(
        [this, bucket, id, outcome](TimePoint now) { meet(bucket, gossip_->on_met(now, bucket, id, outcome)); });
  };
  if (const Status begun = network_.mix(bucket, std::move(request)); !begun.ok()) {
    refused_.warning(threads_.now(), "gossip: " + begun.error().message);
    gossip_->on_refused(bucket);
  }
}

}  // namespace starling::daemon
