#include "client/daemon/cell_trainer.h"

#include <utility>

#include "shared/base/verify.h"
#include "shared/state/initial_state.h"

namespace starling::daemon {
namespace {

Error only_for_others() {
  return {ErrorCode::unsupported, "a cell alone is no model: it computes for others' samples only"};
}

}  // namespace

CellTrainer::CellTrainer(const wire::RunManifest& cell, std::span<float> state, Source source, const Clock& clock)
    : manifest_(cell),
      state_(state),
      source_(std::move(source)),
      clock_(clock),
      optimizer_(manifest_),
      journal_(std::make_unique<optim::StepJournal>()),
      gathered_at_(clock.now()) {
  VERIFY(state_.size() == optimizer_.state_size());
}

session::StateLayout CellTrainer::layout() const {
  return {optimizer_.parameter_count(), wire::moment_vectors(manifest_.optimizer)};
}

Status CellTrainer::initialize() { return make_initial_state(state_); }

Status CellTrainer::make_initial_state(std::span<float> into) const {
  state::fill_initial_state(manifest_, into);
  return {};
}

Result<session::BatchReport> CellTrainer::train_batch(const wire::SampleRange& /*samples*/, std::span<float> into) {
  STARLING_ASSIGN(const SampleCount samples, source_.take(into));
  if (samples == 0) return Error{ErrorCode::failed_precondition, "waiting for gradients of others' samples"};
  const TimePoint now = clock_.now();
  return session::BatchReport{samples, 0, to_seconds(now - std::exchange(gathered_at_, now))};
}

// The journal is for a step that another process goes on with; here it only ever has one step. A gradient that cannot
// be used is refused before anything changes.
Status CellTrainer::step(RoundIndex round, std::span<const float> gradient) {
  journal_->clear();
  STARLING_TRY(optimizer_.step(round, gradient, state_, *journal_));
  source_.on_stepped();
  return {};
}

Result<session::Evaluation> CellTrainer::evaluate() { return only_for_others(); }

Result<std::vector<int>> CellTrainer::sample_tokens(std::span<const int> /*prompt*/, int /*count*/,
                                                    double /*temperature*/) {
  return only_for_others();
}

}  // namespace starling::daemon
