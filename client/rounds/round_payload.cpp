#include "client/rounds/round_payload.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/averaging/own_sketches.h"
#include "client/rounds/centered.h"
#include "client/rounds/feedback.h"
#include "client/rounds/fragment_sums.h"
#include "client/rounds/low_rank.h"
#include "client/rounds/whole_gradient.h"
#include "client/rounds/whole_reduction.h"
#include "shared/base/verify.h"
#include "shared/run/fragments.h"
#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"
#include "shared/run/round_parts.h"
#include "shared/swarm/plausible.h"

namespace starling::rounds {
namespace {

std::unique_ptr<GradientSums> sums_of(const wire::RunManifest& manifest) {
  if (wire::fragments(manifest) > 1) return std::make_unique<FragmentSums>(manifest);
  return std::make_unique<WholeGradient>(wire::parameter_count(manifest.model));
}

std::unique_ptr<Reduction> reduction_of(const wire::RunManifest& manifest) {
  if (manifest.round.low_rank > 0) return std::make_unique<LowRank>(manifest);
  const std::size_t floats = wire::fragment_floats(manifest);
  auto whole = std::make_unique<WholeReduction>(floats);
  if (manifest.round.averaging.aggregation == wire::Aggregation::centered_clip) {
    return std::make_unique<Centered>(std::move(whole), floats, mean_of_momentum(manifest.optimizer));
  }
  if (manifest.round.error_feedback == 0) return whole;
  return std::make_unique<Feedback>(std::move(whole), wire::fragments(manifest), floats,
                                    static_cast<float>(manifest.round.error_feedback));
}

// Sparse codecs and low ranks leave so much out that the residual of a member may be several times as long as that of
// one that has just come.
constexpr double kResidualRatioMax = 10;

averaging::NormLaw norm_law(const wire::RunManifest& manifest) {
  if (manifest.round.error_feedback > 0) return averaging::NormLaw::feedback;
  return manifest.local ? averaging::NormLaw::displacement : averaging::NormLaw::gradient;
}

}  // namespace

RoundPayload::RoundPayload(const wire::RunManifest& manifest)
    : manifest_(manifest), sums_(sums_of(manifest_)), reduction_(reduction_of(manifest_)) {}

void RoundPayload::undo() {
  VERIFY(holds());
  audited_.reset();
  sums_->put_back();
  // With delayed updates the trainer may have gone on to where the round would lead.
  state_ = manifest_.round.delay_parameter_updates ? State::beginning : State::growing;
}

BatchOrder RoundPayload::next_batch(const BatchTarget& target) {
  VERIFY(target.next_round == holds());
  if (target.anew) sums_->clear();
  BatchOrder order;
  order.into = sums_->into(target.next_round);
  order.clears = target.first && sums_->begins_each_round();
  // A fragment that was not sent is not cut either.
  const bool is_cut = state_ == State::contributed && (own_samples_ > 0 || sums_->begins_each_round());
  if (target.anew || state_ == State::beginning || (state_ == State::growing && order.clears)) {
    order.begin = BatchOrder::Begin::at_agreed;
  } else if (is_cut) {
    order.begin = BatchOrder::Begin::ahead;
    order.own_sum = sums_->last_cut();
    order.own_samples = own_samples_;
  }
  state_ = holds() ? State::looking_ahead : State::growing;
  return order;
}

Result<Move> RoundPayload::contribute(const wire::GroupInfo& plan, averaging::Rank self,
                                      const averaging::ContributionTerms& terms, std::span<const float> state) {
  if (holds()) undo();
  state_ = State::contributed;
  own_samples_ = 0;
  audited_.reset();
  if (const std::int64_t floats = wire::averaged_floats(manifest_); plan.vector_floats != floats) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("a plan for {} floats where a round averages {}", plan.vector_floats, floats)};
  }
  const SampleCount most = plan.members[self].weight_max;
  own_samples_ = most > 0 ? std::min(terms.weight, most) : terms.weight;
  Contribution contribution{plan, self, {own_samples_, terms.draw}, {}, state};
  if (own_samples_ > 0) contribution.own = sums_->cut(plan.round, terms.weight, own_samples_);
  const bool audited = !plan.audit_commitment.is_zero() && wire::why_not_audited(manifest_).empty();
  if (audited) audited_ = Audited{plan, self};
  return limited(reduction_->begin(contribution));
}

Move RoundPayload::on_leg(const averaging::AveragingOutcome& outcome) {
  const bool averaged = outcome.verdict == averaging::AveragingOutcome::Verdict::averaged;
  if (audited_) audited_->averaged = averaged;
  if (averaged && outcome.usual) usual_norms_.learn(leg_, *outcome.usual);
  return limited(reduction_->on_leg(outcome));
}

Move RoundPayload::limited(Move move) {
  if (auto* const leg = std::get_if<Leg>(&move)) {
    leg_ = {wire::fragment_of(manifest_, leg->group.round).number, leg->follows};
    leg->engine.norm_law = norm_law(manifest_);
    const bool sparse = leg->group.codec == "sparse";
    if (sparse || manifest_.round.low_rank > 0) leg->engine.norm_ratio_max = kResidualRatioMax;
    if (manifest_.round.averaging.aggregation == wire::Aggregation::mean) leg->engine.norm_ratio_max = 0;
    leg->engine.usual = usual_norms_.recent(leg_);
    leg->engine.weight_max = swarm::member_samples_max(manifest_.target_batch_size, manifest_.micro_batch_size);
  }
  return move;
}

void RoundPayload::on_stepped() {
  VERIFY(holds());
  sums_->finish_round();
  // Without a batch since the contribution, the trainer is still where that led.
  state_ = state_ == State::contributed && own_samples_ > 0 ? State::beginning : State::growing;
}

std::optional<wire::OwnSketches> RoundPayload::own_sketches(const Hash128& seed) const {
  if (!audited_ || !audited_->averaged) return std::nullopt;
  const bool centered = manifest_.round.averaging.aggregation == wire::Aggregation::centered_clip;
  const bool is_mean = !audited_->plan.grid && !centered;
  return averaging::own_sketches(audited_->plan, audited_->self,
                                 own_samples_ > 0 ? sums_->last_cut() : std::span<const float>(),
                                 is_mean ? average() : std::span<const float>(), seed);
}

double RoundPayload::consensus_distance(RoundIndex round, const Own& own, std::span<const float> agreed) const {
  if (!manifest_.local || own.samples == 0) return 0;
  const wire::Fragment fragment = wire::fragment_of(manifest_, round);
  const std::span<const float> part = agreed.subspan(fragment.begin, fragment.count);
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const double mean = average()[i];
    const double away = static_cast<double>(own.sum[i]) / static_cast<double>(own.samples);
    apart += (away - mean) * (away - mean);
    length += (part[i] - mean) * (part[i] - mean);
  }
  return length > 0 ? std::sqrt(apart / length) : 0;
}

}  // namespace starling::rounds
