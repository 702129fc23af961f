// The run's gossip between rounds: session::Gossip decides for each bucket on the control thread, own parameters are
// moved on the trainer thread when they have stepped, and the network averages the vector that was sent.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"
#include "shared/base/log.h"
#include "shared/run/fragments.h"

namespace starling::daemon {
namespace {

// A live member is not left out of a meeting that it has begun; otherwise its partners would have a value that it
// lacks. And a bucket may have to wait for the line while those before it use it.
constexpr Duration kGossipStall = std::chrono::hours(1);

}  // namespace

void ProjectRun::mix_bucket(const wire::Bucket& bucket) {
  const std::int64_t child = parts_->trainer->view().starts;
  const bool began_anew = std::exchange(parts_->gossip->stepped_child, child) != child;
  GossipParts& gossip = *parts_->gossip;
  if (began_anew) {
    for (optim::GossipStep& step : gossip.steps) step.forget();
  }
  session::Gossip::Order order;
  threads_.control.run_and_wait([&] {
    if (stopped_) return;
    for (session::Gossip& each : gossip.gossips) {
      if (began_anew) each.forget();
    }
    order = gossip.gossips[bucket.number].on_stepped(threads_.clock.now());
    if (order.send_out) parts_->network->end_gossip(bucket.number);
  });
  const auto of_bucket = [&bucket](auto vector) { return vector.subspan(bucket.begin, bucket.count); };
  const std::span<float> own = of_bucket(parts_->trainer->own_parameters());
  const std::span<float> sent = of_bucket(std::span(gossip.sent));
  optim::GossipStep& step = gossip.steps[bucket.number];
  if (order.take_in) {
    const std::span<const float> mixed = of_bucket(std::span(gossip.mixed));
    if (order.measure) {
      deliver([this, bucket, distance = step.distance(sent, mixed, own)](TimePoint) {
        parts_->gossip->gossips[bucket.number].on_measured(distance);
      });
    }
    step.take_in(sent, mixed, own);
  }
  if (!order.send_out) return;
  step.send_out(of_bucket(parts_->trainer->state()), own, sent);
  deliver([this, bucket](TimePoint now) { meet(bucket, parts_->gossip->gossips[bucket.number].on_sent_out(now)); });
}

void ProjectRun::meet(const wire::Bucket& bucket, const std::optional<swarm::GossipGroup>& gossip) {
  if (!gossip) return;
  transport::AverageRequest request;
  request.group = gossip->group;
  request.self = gossip->self;
  request.weight = 1;
  request.input = std::span(parts_->gossip->sent).subspan(bucket.begin, bucket.count);
  request.output = std::span(parts_->gossip->mixed).subspan(bucket.begin, bucket.count);
  request.start = threads_.clock.now();
  request.engine.latecomers = false;
  request.engine.stall_floor = request.engine.straggler_floor = kGossipStall;
  request.engine.weight_max = request.weight;
  request.done = [this, bucket, id = gossip->group.id](const averaging::AveragingOutcome& outcome) {
    deliver([this, bucket, id, outcome](TimePoint now) {
      meet(bucket, parts_->gossip->gossips[bucket.number].on_mixed(now, id, outcome));
    });
  };
  if (const Status begun = parts_->network->mix(bucket.number, std::move(request)); !begun.ok()) {
    log_warning("mixing: {}", begun.error().message);
    parts_->gossip->gossips[bucket.number].forget();
  }
}

void ProjectRun::begin_gossip(const wire::RoundReport& report) {
  if (parts_->gossip == nullptr) return;
  std::vector<PeerId> members;
  for (const wire::Contribution& contribution : report.contributions) members.push_back(contribution.peer);
  for (session::Gossip& gossip : parts_->gossip->gossips) {
    if (consensus_distance_ > 0) gossip.on_averaged(consensus_distance_, static_cast<int>(members.size()));
    gossip.begin_round(threads_.clock.now(), parts_->gossip->last, members, report.round + 1, report.state_digest);
  }
  threads_.trainer.post([this] {
    if (stopped_) return;
    for (optim::GossipStep& step : parts_->gossip->steps) step.begin_round();
  });
}

void ProjectRun::end_gossip() {
  if (parts_->gossip == nullptr) return;
  for (const wire::Bucket& bucket : parts_->gossip->buckets) {
    parts_->gossip->gossips[bucket.number].end_round();
    parts_->network->end_gossip(bucket.number);
  }
}

double ProjectRun::consensus_distance(RoundIndex round, std::span<const float> sum, SampleCount samples) const {
  if (!parts_->manifest.local || samples == 0) return 0;
  const wire::Fragment fragment = wire::fragment_of(parts_->manifest, round);
  const std::span<const float> agreed = parts_->trainer->state().subspan(fragment.begin, fragment.count);
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < agreed.size(); ++i) {
    const double average = parts_->averaged[i];
    const double own = static_cast<double>(sum[i]) / static_cast<double>(samples);
    apart += (own - average) * (own - average);
    length += (agreed[i] - average) * (agreed[i] - average);
  }
  return length > 0 ? std::sqrt(apart / length) : 0;
}

}  // namespace starling::daemon
