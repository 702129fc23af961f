#include "client/rounds/gossip.h"

#include <chrono>
#include <utility>

#include "shared/run/model_layout.h"

namespace starling::rounds {
namespace {

// A live member is not left out of a meeting that it has begun; otherwise its partners would have a value that it
// lacks. And a bucket may have to wait for the line while those before it use it.
constexpr Duration kMeetingStall = std::chrono::hours(1);

// How many times as far as this member a partner may have gone since the round began, where vectors are displacements:
// a computer that is so much faster is averaged in as it is, and a liar moves its partners by no more.
constexpr double kPartnerRatioMax = 10;

}  // namespace

std::unique_ptr<Gossip> Gossip::make(const wire::RunManifest& manifest, const PeerId& self) {
  if (!wire::gossips(manifest.local)) return nullptr;
  return std::make_unique<Gossip>(manifest, self);
}

Gossip::Gossip(const wire::RunManifest& manifest, const PeerId& self)
    : buckets_(wire::buckets(manifest.model)), sent_(wire::parameter_count(manifest.model)), mixed_(sent_.size()) {
  for (const wire::Bucket& bucket : buckets_) {
    decisions_.emplace_back(*manifest.local, self, bucket);
    steps_.emplace_back(*manifest.local, bucket.count);
  }
}

void Gossip::on_round_planned(const wire::GroupInfo& plan) {
  end_round();
  plan_ = plan;
}

void Gossip::end_round() {
  for (BucketGossip& each : decisions_) each.end_round();
}

void Gossip::begin_round(TimePoint now, const wire::RoundReport& report, double distance) {
  std::vector<PeerId> members;
  for (const wire::Contribution& contribution : report.contributions) members.push_back(contribution.peer);
  for (BucketGossip& each : decisions_) {
    if (distance > 0) each.on_averaged(distance, static_cast<int>(members.size()));
    each.begin_round(now, plan_, members, report.round + 1, report.state_digest);
  }
}

void Gossip::begin_steps() {
  for (optim::GossipStep& step : steps_) step.begin_round();
}

BucketGossip::Order Gossip::on_stepped(TimePoint now, std::size_t bucket, bool began) {
  if (began) {
    for (BucketGossip& each : decisions_) each.forget();
  }
  return decisions_[bucket].on_stepped(now);
}

void Gossip::forget_steps() {
  for (optim::GossipStep& step : steps_) step.forget();
}

std::optional<double> Gossip::carry_out(const BucketGossip::Order& order, std::size_t bucket, std::span<float> own,
                                        std::span<const float> agreed) {
  const auto part = [&place = buckets_[bucket]](auto vector) { return vector.subspan(place.begin, place.count); };
  const std::span<float> sent = part(std::span(sent_));
  optim::GossipStep& step = steps_[bucket];
  std::optional<double> distance;
  if (order.take_in) {
    const std::span<const float> mixed = part(std::span(mixed_));
    if (order.measure) distance = step.distance(sent, mixed, part(own));
    step.take_in(sent, mixed, part(own));
  }
  if (order.send_out) step.send_out(part(agreed), part(own), sent);
  return distance;
}

std::optional<Leg> Gossip::on_sent_out(TimePoint now, std::size_t bucket) {
  return leg_of(bucket, decisions_[bucket].on_sent_out(now));
}

std::optional<Leg> Gossip::on_met(TimePoint now, std::size_t bucket, const GroupId& id,
                                  const averaging::AveragingOutcome& outcome) {
  return leg_of(bucket, decisions_[bucket].on_mixed(now, id, outcome));
}

std::optional<Leg> Gossip::leg_of(std::size_t bucket, const std::optional<swarm::GossipGroup>& meeting) {
  if (!meeting) return std::nullopt;
  const wire::Bucket& place = buckets_[bucket];
  Leg leg;
  leg.group = meeting->group;
  leg.self = meeting->self;
  leg.vectors.weight = 1;
  leg.vectors.input = std::span(sent_).subspan(place.begin, place.count);
  leg.vectors.output = std::span(mixed_).subspan(place.begin, place.count);
  leg.engine.latecomers = false;
  leg.engine.stall_floor = leg.engine.straggler_floor = kMeetingStall;
  leg.engine.weight_max = leg.vectors.weight;
  leg.engine.norm_ratio_max = kPartnerRatioMax;
  return leg;
}

std::int64_t Gossip::mixed() const {
  std::int64_t sum = 0;
  for (const BucketGossip& each : decisions_) sum += each.mixed();
  return sum / std::ssize(decisions_);
}

std::int64_t Gossip::missed() const {
  std::int64_t sum = 0;
  for (const BucketGossip& each : decisions_) sum += each.missed();
  return sum / std::ssize(decisions_);
}

}  // namespace starling::rounds
