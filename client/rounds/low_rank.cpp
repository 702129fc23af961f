#include "client/rounds/low_rank.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/legs.h"

namespace starling::rounds {
namespace {

using averaging::AveragingOutcome;

wire::LowRankLayout layout_of(const wire::RunManifest& manifest) {
  return wire::low_rank_layout(wire::model_layout(manifest.model), manifest.round.low_rank);
}

// Copies the products, which change while the first leg still reads them.
void send(std::span<const float> values, std::vector<float>& sent) {
  std::copy(values.begin(), values.end(), sent.begin());
}

}  // namespace

LowRank::LowRank(const wire::RunManifest& manifest)
    : power_(layout_of(manifest), static_cast<float>(manifest.round.error_feedback), manifest.seed),
      average_(power_.layout().floats) {
  const std::size_t floats[] = {power_.layout().left_floats, power_.layout().right_floats};
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    sent_[i].resize(floats[i]);
    arrived_[i].resize(floats[i]);
  }
}

Leg LowRank::leg(std::size_t index) {
  Leg leg;
  leg.group = swarm::plan_leg(contribution_.plan, static_cast<int>(index), std::ssize(sent_[index]));
  leg.self = contribution_.self;
  leg.vectors.weight = contribution_.terms.weight;
  leg.vectors.draw = contribution_.terms.draw;
  leg.vectors.input = sent_[index];
  leg.vectors.output = arrived_[index];
  leg.follows = index > 0;
  return leg;
}

Move LowRank::begin(const Contribution& contribution) {
  contribution_ = contribution;
  stage_ = Stage::projecting;
  return Computation{[this, own = contribution.own] {
    if (!own.empty()) send(power_.project(own), sent_[0]);
  }};
}

Move LowRank::on_computed() {
  switch (stage_) {
    case Stage::projecting:
      stage_ = Stage::averaging_left;
      return leg(0);
    case Stage::projecting_back:
      stage_ = Stage::averaging_right;
      return leg(1);
    case Stage::finishing:
      stage_ = Stage::idle;
      return outcome_;
    case Stage::idle:
    case Stage::averaging_left:
    case Stage::averaging_right:
      break;
  }
  VERIFY(false);  // nothing was to be computed
  return AveragingOutcome{};
}

Move LowRank::on_leg(const AveragingOutcome& outcome) {
  VERIFY(stage_ == Stage::averaging_left || stage_ == Stage::averaging_right);
  const bool first = stage_ == Stage::averaging_left;
  AveragingOutcome whole = outcome;
  if (!first) {
    whole.bytes_sent += outcome_.bytes_sent;
    whole.bytes_received += outcome_.bytes_received;
    whole.elapsed += outcome_.elapsed;
  }
  outcome_ = std::move(whole);
  if (outcome.verdict != AveragingOutcome::Verdict::averaged) {
    stage_ = Stage::idle;
    return outcome_;
  }
  const std::span<const float> own = contribution_.own;
  if (first) {
    stage_ = Stage::projecting_back;
    return Computation{[this, own] {
      power_.take_left(arrived_[0]);
      if (!own.empty()) send(power_.project_back(own), sent_[1]);
    }};
  }
  stage_ = Stage::finishing;
  return Computation{[this, own, whole_outcome = outcome_, self = contribution_.self] {
    power_.finish(arrived_[1], whole_outcome, self, own, average_);
  }};
}

}  // namespace starling::rounds
