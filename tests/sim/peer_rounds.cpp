// The peer's rounds: client/rounds decides what is contributed and how, as in the daemon.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shared/base/verify.h"
#include "tests/sim/peer.h"
#include "tests/sim/quadratic_problem.h"

namespace starling::sim {
namespace {

constexpr Duration kComputationTime = std::chrono::milliseconds(1);
constexpr Duration kStepTime = std::chrono::milliseconds(2);

}  // namespace

struct Peer::Batch {
  wire::SampleRange samples;
  session::BatchTarget target;
  rounds::BatchOrder order;
  std::size_t sum;  // ContributionCheck::sum_of
};

void Peer::start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) {
  if (payload_->is_undone_by(target)) {
    abandon();
    payload_->undo();
  }
  const Batch batch{samples, target, payload_->next_batch(target), check_->sum_of(target)};
  if (world_.gathers()) return gather(batch);
  const double seconds = batch_seconds(samples.count);
  if (batch.order.clears) std::fill(batch.order.into.begin(), batch.order.into.end(), 0.0F);
  learner_->begin(batch.order, samples.round);
  schedule(world_.scheduler().now() + from_seconds(seconds), [this, batch, seconds] {
    Result<session::BatchReport> report = session::BatchReport{batch.samples.count, 1.0, seconds};
    if (passes_over(batch.samples)) {
      report = Error{ErrorCode::corrupt, "the gradient is not finite"};
    } else {
      finish_batch(batch);
    }
    session_->on_batch_done(world_.scheduler().now(), report);
    after_session_event();
  });
}

// Like client/daemon/cell_run.h: waiting for gradients is no computation, and a batch ends at once if there are none.
void Peer::gather(const Batch& batch) {
  const auto end = [this](const Result<session::BatchReport>& report) {
    session_->on_batch_done(world_.scheduler().now(), report);
    after_session_event();
  };
  const Error nothing{ErrorCode::failed_precondition, "waiting for gradients of others' samples"};
  if (!std::exchange(has_gradients_, false)) {
    return schedule(world_.scheduler().now(), [end, nothing] { end(nothing); });
  }
  world_.gather(*this,
                [this, batch, end, nothing, life = incarnation_](SampleCount samples, std::span<const float> sum) {
                  if (life != incarnation_) return;
                  if (batch.order.clears) std::fill(batch.order.into.begin(), batch.order.into.end(), 0.0F);
                  if (samples > 0) take(batch, samples, sum);
                  const TimePoint now = world_.scheduler().now();
                  const double seconds = to_seconds(now - gathered_at_);
                  if (samples > 0) gathered_at_ = now;
                  const Result<session::BatchReport> report = session::BatchReport{samples, 0, seconds};
                  schedule(now, [samples, end, report, nothing] { samples > 0 ? end(report) : end(nothing); });
                });
}

double Peer::batch_seconds(SampleCount samples) {
  const double usual = static_cast<double>(samples) / samples_per_s_;
  const double jitter = world_.options().batch_jitter;
  if (jitter <= 0) return usual;
  const double variance = std::log1p(jitter * jitter);
  return usual * std::lognormal_distribution<double>(-variance / 2, std::sqrt(variance))(rng_);
}

bool Peer::has_unusable(const wire::SampleRange& samples) const {
  const SwarmOptions& options = world_.options();
  for (SampleCount k = 0; samples.epoch != wire::kNoEpoch && k < samples.count; ++k) {
    if (is_unusable(options.seed, options.unusable_share, samples.first + k)) return true;
  }
  return false;
}

bool Peer::passes_over(const wire::SampleRange& samples) {
  const bool is_useless = has_unusable(samples);
  if (is_useless && samples.count == 1) passed_over_.emplace_back(samples.epoch, samples.first);
  return is_useless;
}

void Peer::finish_batch(const Batch& batch) {
  const wire::SampleRange& samples = batch.samples;
  Samples& leased = leased_in_[batch.sum];
  if (batch.target.first) leased.clear(), passed_over_.clear();
  leased.insert(leased.end(), passed_over_.begin(), passed_over_.end());
  passed_over_.clear();
  for (SampleCount k = 0; samples.epoch != wire::kNoEpoch && k < samples.count; ++k) {
    leased.emplace_back(samples.epoch, samples.first + k);
  }
  std::vector<float> added(batch.order.into.size());
  learner_->train(samples, added);
  world_.on_computed(*this, samples, added);
  take(batch, samples.count, added);
  const TimePoint now = world_.scheduler().now();
  if (batch_done_ != kNever) world_.on_batch_done(*this, now - batch_done_);
  batch_done_ = now;
  if (gossip_ != nullptr) on_stepped();
}

void Peer::take(const Batch& batch, SampleCount samples, std::span<const float> added) {
  for (std::size_t i = 0; i < added.size(); ++i) batch.order.into[i] += added[i];
  check_->on_batch(batch.sum, batch.target, samples, added);
  payload_->on_batch(samples);
}

void Peer::start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                           const averaging::ContributionTerms& terms) {
  end_meeting();
  if (gossip_ != nullptr) gossip_->on_round_planned(group);
  abandon();
  world_.on_gradient_brought(*this, group, terms, leased_in_[check_->present()]);
  const averaging::ContributionTerms named = world_.named_terms(*this, group, self, terms);
  wire::GroupInfo plan = group;
  if (named != terms) plan.members[self].weight_max = 0;  // a liar scales nothing down
  Result<rounds::Move> move = payload_->contribute(plan, self, named, learner_->state());
  VERIFY(move.ok());
  check_->on_listened();
  if (terms.weight > 0) {
    const std::string wrong = check_->on_contributed(group.round, named.weight, payload_->own());
    if (!wrong.empty()) world_.fail(fmt::format("peer {}: {}", index_, wrong));
  }
  follow(std::move(move).value());
}

void Peer::follow(rounds::Move move) {
  if (auto* const computation = std::get_if<rounds::Computation>(&move)) {
    schedule(world_.scheduler().now() + kComputationTime, [this, run = std::move(computation->run)] {
      run();
      follow(payload_->on_computed());
    });
  } else if (const auto* const leg = std::get_if<rounds::Leg>(&move)) {
    if (leg->follows) {
      announce_end(before_, ended_);
      before_ = std::move(current_);
    }
    current_ = averaging_in(*leg);
    world_.on_leg_begun(*this, *leg);
    begin(*current_, *leg);
  } else {
    session_->on_averaged(world_.scheduler().now(), std::get<averaging::AveragingOutcome>(move));
    after_session_event();
  }
}

void Peer::abandon() {
  announce_end(before_, ended_);
  announce_end(current_, ended_);
}

void Peer::on_averaged(const GroupId& id, Duration took, const averaging::AveragingOutcome& outcome) {
  if (!current_ || current_->group.id != id) return on_met(id, outcome);
  world_.on_averaging_ended(*this, took, outcome);
  follow(payload_->on_leg(outcome));
}

void Peer::start_step(RoundIndex round) {
  schedule(world_.scheduler().now() + kStepTime, [this, round] {
    const rounds::RoundPayload::Own own = payload_->own();
    if (world_.manifest().local && own.samples > 0) {
      world_.on_consensus_distance(*this, Learner::consensus_distance(own.sum, own.samples, payload_->average()));
    }
    consensus_distance_ = payload_->consensus_distance(round, own, parameters());
    previous_state_ = learner_->state();
    learner_->step(round, payload_->average());
    world_.on_step(round, previous_state_, state());
    payload_->on_stepped();
    check_->on_stepped(round);
    session_->on_step_done(world_.scheduler().now(), digest());
    after_session_event();
  });
}

void Peer::on_stepped() {
  const TimePoint now = world_.scheduler().now();
  const rounds::BucketGossip::Order order = gossip_->on_stepped(now, 0, false);
  if (order.send_out) announce_end(meeting_, ended_meetings_);
  const auto distance = gossip_->carry_out(order, 0, learner_->own(), parameters());
  if (distance) gossip_->on_measured(0, *distance);
  if (order.send_out) meet(gossip_->on_sent_out(now, 0));
  pump();
}

void Peer::meet(const std::optional<rounds::Leg>& leg) {
  if (!leg) return;
  announce_end(meeting_, ended_meetings_);
  meeting_ = averaging_in(*leg);
  begin(*meeting_, *leg);
}

void Peer::on_met(const GroupId& id, const averaging::AveragingOutcome& outcome) {
  if (!meeting_ || meeting_->group.id != id) return;
  world_.on_mixed(*this, meeting_->group, outcome);
  meet(gossip_->on_met(world_.scheduler().now(), 0, id, outcome));
  pump();
}

void Peer::begin_gossip(const wire::RoundReport& report) {
  if (gossip_ == nullptr) return;
  gossip_->begin_round(world_.scheduler().now(), report, consensus_distance_);
  gossip_->begin_steps();
}

void Peer::end_meeting() {
  if (gossip_ == nullptr) return;
  gossip_->end_round();
  announce_end(meeting_, ended_meetings_);
}

}  // namespace starling::sim
