// The run's rounds: client/rounds decides what is contributed and how, on the control thread; batches and computations
// run on the trainer thread, averagings on the network's.
#include <algorithm>
#include <utility>

#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"
#include "shared/base/log.h"

namespace starling::daemon {
namespace {

using averaging::AveragingOutcome;
using rounds::BatchOrder;

transport::AverageRequest request_of(const rounds::Leg& leg, TimePoint now) {
  transport::AverageRequest request;
  request.group = leg.group;
  request.self = leg.self;
  request.weight = leg.vectors.weight;
  request.draw = leg.vectors.draw;
  request.input = leg.vectors.input;
  request.output = leg.vectors.output;
  request.rest = leg.vectors.rest;
  request.follows = leg.follows;
  request.start = now;
  request.engine = leg.engine;
  return request;
}

}  // namespace

void ProjectRun::start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) {
  rounds::RoundPayload& payload = parts_->payload;
  if (payload.is_undone_by(target)) {
    parts_->network->abandon();
    payload.undo();
  }
  threads_.trainer.post([this, samples, order = payload.next_batch(target)] {
    if (stopped_) return;
    auto report = carry_out(order, samples);
    if (!report.ok()) stepped_child_ = -1;
    deliver([this, report = std::move(report)](TimePoint now) {
      if (report.ok()) parts_->payload.on_batch(report->samples);
      parts_->session->on_batch_done(now, report);
    });
  });
}

Result<session::BatchReport> ProjectRun::carry_out(const BatchOrder& order, const wire::SampleRange& samples) {
  trainer_link::TrainerProcess& trainer = *parts_->trainer;
  if (order.clears) std::fill(order.into.begin(), order.into.end(), 0.0F);
  if (order.begin == BatchOrder::Begin::at_agreed) trainer.begin_sum();
  if (order.begin == BatchOrder::Begin::ahead) {
    trainer.begin_sum_ahead(samples.round - 1, order.own_sum, order.own_samples);
  }
  while (true) {
    const auto share = allowed_share();
    if (!share) return Error{ErrorCode::unavailable, "training is paused"};
    trainer.set_share(*share);
    auto report = trainer.train_batch(samples, order.into);
    if (report.ok() || allowed_share() == share) return report;
  }
}

void ProjectRun::start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                                 const averaging::ContributionTerms& terms) {
  note_peers(group, self);
  end_meetings();
  if (parts_->gossip != nullptr) parts_->gossip->on_round_planned(group);
  parts_->network->abandon();  // the round before may still read memory that changes now
  members_planned_ = group.members.size();
  Result<rounds::Move> move = parts_->payload.contribute(group, self, terms);
  if (!move.ok()) return averaging_refused(move.error());
  follow(threads_.clock.now(), std::move(move).value());
}

void ProjectRun::follow(TimePoint now, rounds::Move move) {
  if (auto* const computation = std::get_if<rounds::Computation>(&move)) {
    threads_.trainer.post([this, run = std::move(computation->run)] {
      if (stopped_) return;
      run();
      deliver([this](TimePoint computed) { follow(computed, parts_->payload.on_computed()); });
    });
  } else if (const auto* const leg = std::get_if<rounds::Leg>(&move)) {
    average(*leg);
  } else {
    parts_->session->on_averaged(now, std::get<AveragingOutcome>(move));
  }
}

void ProjectRun::average(const rounds::Leg& leg) {
  transport::AverageRequest request = request_of(leg, threads_.clock.now());
  request.done = [this](const AveragingOutcome& outcome) {
    deliver([this, outcome](TimePoint now) { follow(now, parts_->payload.on_leg(outcome)); });
  };
  if (outgoing_.contribution) outgoing_.contribution(request);
  const Status begun = parts_->network->average(std::move(request));
  if (!begun.ok()) averaging_refused(begun.error());
}

void ProjectRun::averaging_refused(const Error& why) {
  log_warning("averaging: {}", why.message);
  AveragingOutcome outcome;
  outcome.verdict = AveragingOutcome::Verdict::expelled;
  outcome.samples.assign(members_planned_, 0);
  deliver([this, outcome](TimePoint now) { parts_->session->on_averaged(now, outcome); });
}

void ProjectRun::start_step(RoundIndex round) {
  step_loop().post([this, round, own = parts_->payload.own()] {
    if (stopped_) return;
    const rounds::RoundPayload& payload = parts_->payload;
    const double distance = payload.consensus_distance(round, own, parts_->trainer->state());
    keep_previous_state();
    auto digest = parts_->snapshots->change(round + 1, [&] { return parts_->trainer->step(round, payload.average()); });
    deliver([this, digest = std::move(digest), distance](TimePoint now) {
      consensus_distance_ = distance;
      if (digest.ok()) parts_->payload.on_stepped();
      parts_->session->on_step_done(now, digest);
    });
  });
}

// Runs on the trainer thread, in the middle of a batch.
void ProjectRun::on_bucket_stepped(const wire::Bucket& bucket) {
  rounds::Gossip& gossip = *parts_->gossip;
  const std::int64_t child = parts_->trainer->view().starts;
  const bool anew = std::exchange(stepped_child_, child) != child;
  if (anew) gossip.forget_steps();
  rounds::BucketGossip::Order order;
  threads_.control.run_and_wait([&] {
    if (stopped_) return;
    order = gossip.on_stepped(threads_.clock.now(), bucket.number, anew);
    if (order.send_out) parts_->network->end_gossip(bucket.number);
  });
  const auto distance =
      gossip.carry_out(order, bucket.number, parts_->trainer->own_parameters(), parts_->trainer->state());
  if (!distance && !order.send_out) return;
  deliver([this, number = bucket.number, distance, sent = order.send_out](TimePoint now) {
    if (distance) parts_->gossip->on_measured(number, *distance);
    if (sent) meet(number, parts_->gossip->on_sent_out(now, number));
  });
}

void ProjectRun::meet(std::size_t bucket, const std::optional<rounds::Leg>& leg) {
  if (!leg) return;
  transport::AverageRequest request = request_of(*leg, threads_.clock.now());
  request.done = [this, bucket, id = leg->group.id](const AveragingOutcome& outcome) {
    deliver(
        [this, bucket, id, outcome](TimePoint now) { meet(bucket, parts_->gossip->on_met(now, bucket, id, outcome)); });
  };
  if (const Status begun = parts_->network->mix(bucket, std::move(request)); !begun.ok()) {
    log_warning("gossip: {}", begun.error().message);
    parts_->gossip->on_refused(bucket);
  }
}

void ProjectRun::begin_gossip(const wire::RoundReport& report) {
  if (parts_->gossip == nullptr) return;
  parts_->gossip->begin_round(threads_.clock.now(), report, consensus_distance_);
  threads_.trainer.post([this] {
    if (!stopped_) parts_->gossip->begin_steps();
  });
}

void ProjectRun::end_meetings() {
  if (parts_->gossip == nullptr) return;
  parts_->gossip->end_round();
  for (const wire::Bucket& bucket : parts_->gossip->buckets()) parts_->network->end_gossip(bucket.number);
}

}  // namespace starling::daemon
