// Carries out one averaging of the session's as two of the network's, by low-rank products
// (client/averaging/power_sgd.h), which are computed before, between and after them on the trainer thread.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"
#include "shared/swarm/legs.h"

namespace starling::daemon {

using averaging::AveragingOutcome;

namespace {

// Copies the products, which change while the network still reads them.
void send(std::span<const float> values, std::vector<float>& sent) {
  std::copy(values.begin(), values.end(), sent.begin());
}

}  // namespace

struct ProjectRun::Leg {
  std::size_t index = 0;
  wire::GroupInfo group;  // the planned one, for both
  averaging::Rank self = 0;
  averaging::ContributionTerms terms;
  std::span<const float> gradient;  // empty when there is none
};

void ProjectRun::start_low_rank(const wire::GroupInfo& group, averaging::Rank self,
                                const averaging::ContributionTerms& terms) {
  if (const std::int64_t floats = wire::averaged_floats(parts_->manifest); group.vector_floats != floats) {
    const Error wrong{ErrorCode::invalid_argument,
                      fmt::format("a plan for {} floats where factors of rank {} and what goes whole are {}",
                                  group.vector_floats, parts_->manifest.low_rank, floats)};
    return averaging_refused(wrong, group.members.size());
  }
  parts_->network->abandon();  // the round before may still read memory that changes now
  Leg leg{0, group, self, terms, {}};
  if (terms.weight > 0) leg.gradient = parts_->gradients[gradient_in_use_];
  threads_.trainer.post([this, leg] {
    if (stopped_) return;
    LowRankParts& low_rank = *parts_->low_rank;
    if (!leg.gradient.empty()) send(low_rank.power.project(leg.gradient), low_rank.sent[0]);
    deliver([this, leg](TimePoint) { begin_leg(leg); });
  });
}

void ProjectRun::begin_leg(const Leg& leg) {
  LowRankParts& low_rank = *parts_->low_rank;
  transport::AverageRequest request;
  request.input = low_rank.sent[leg.index];
  request.output = low_rank.arrived[leg.index];
  request.group = swarm::plan_leg(leg.group, static_cast<int>(leg.index), std::ssize(request.input));
  request.self = leg.self;
  request.weight = leg.terms.weight;
  request.draw = leg.terms.draw;
  request.start = threads_.clock.now();
  request.follows = leg.index > 0;
  request.engine.weight_max = samples_max();
  request.done = [this, leg](const AveragingOutcome& outcome) {
    deliver([this, leg, outcome](TimePoint now) { leg_ended(now, leg, outcome); });
  };
  const Status begun = parts_->network->average(std::move(request));
  if (!begun.ok()) averaging_refused(begun, leg.group.members.size());
}

void ProjectRun::leg_ended(TimePoint now, const Leg& leg, const AveragingOutcome& outcome) {
  LowRankParts& low_rank = *parts_->low_rank;
  AveragingOutcome whole = outcome;
  if (leg.index > 0) {
    whole.bytes_sent += low_rank.first.bytes_sent;
    whole.bytes_received += low_rank.first.bytes_received;
    whole.elapsed += low_rank.first.elapsed;
  }
  if (outcome.verdict != AveragingOutcome::Verdict::averaged) return parts_->session->on_averaged(now, whole);
  if (leg.index == 0) low_rank.first = outcome;
  threads_.trainer.post([this, leg, whole] {
    if (stopped_) return;
    LowRankParts& parts = *parts_->low_rank;
    if (leg.index == 0) {
      parts.power.take_left(parts.arrived[0]);
      if (!leg.gradient.empty()) send(parts.power.project_back(leg.gradient), parts.sent[1]);
      Leg second = leg;
      second.index = 1;
      deliver([this, second](TimePoint) { begin_leg(second); });
    } else {
      parts.power.finish(parts.arrived[1], whole, leg.self, leg.gradient, parts_->averaged);
      deliver([this, whole](TimePoint done) { parts_->session->on_averaged(done, whole); });
    }
  });
}

}  // namespace starling::daemon
