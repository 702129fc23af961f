#include "tests/sim/swarm_manifest.h"

#include <fmt/format.h>

#include <cmath>

#include "shared/base/words.h"
#include "shared/manifest/algorithms.h"
#include "shared/run/cells.h"
#include "shared/run/round_parts.h"
#include "shared/state/state_digest.h"
#include "tests/sim/learner.h"
#include "tests/sim/quadratic_problem.h"

namespace starling::sim {
namespace {

constexpr RoundIndex kCheckpointRounds = 10;
// Learning rates: of plain SGD, and of optimizers whose steps have one length whatever the gradient.
constexpr double kRate = 0.05;
constexpr double kNormalizedRate = 0.01;
constexpr double kMomentum = 0.5;

wire::ScheduleOptions constant(double learning_rate) {
  return {.kind = wire::ScheduleKind::constant, .learning_rate = learning_rate, .warmup_rounds = 0};
}

// The parameters: one vector or, for factors to stand for, a matrix and the rest.
std::vector<wire::ScriptModel::Tensor> tensors_of(const SwarmOptions& options) {
  if (options.low_rank == 0) return {{"values", {options.parameters}}};
  const auto rows = static_cast<std::int64_t>(std::sqrt(options.parameters));
  const std::int64_t columns = options.parameters / rows;
  std::vector<wire::ScriptModel::Tensor> tensors{{"matrix", {rows, columns}}};
  if (const std::int64_t rest = options.parameters - rows * columns; rest > 0) tensors.push_back({"rest", {rest}});
  return tensors;
}

// Steps on averaged gradients by plain SGD: how far that leads is known.
void step_plainly(wire::RunManifest& manifest) {
  manifest.optimizer = wire::default_optimizer(wire::OptimizerKind::sgd);
  manifest.optimizer.momentum = manifest.optimizer.weight_decay = manifest.optimizer.clip_norm = 0;
  manifest.schedule = constant(kRate);
}

// Contributions are bounded around the momentum, in one group. Steps are as long as plain ones.
void step_with_momentum(wire::RunManifest& manifest) {
  manifest.optimizer.momentum = kMomentum;
  manifest.schedule = constant(kRate * (1 - kMomentum));
  if (manifest.round.averaging.formation == wire::Formation::automatic) {
    manifest.round.averaging.formation = wire::Formation::one_group;
  }
}

// Sets the parts of a round that the options name.
Status read_round(const SwarmOptions& options, wire::RoundOptions& round) {
  const auto formation = from_word<wire::Formation>(options.formation);
  if (!formation) {
    return Error{ErrorCode::invalid_argument,
                 "formation " + no_word(options.formation, allowed_words<wire::Formation>())};
  }
  if (*formation != wire::Formation::automatic) round.averaging.formation = *formation;
  round.averaging.group_size = options.group_size;
  if (!options.aggregation.empty()) {
    const auto aggregation = from_word<wire::Aggregation>(options.aggregation);
    if (!aggregation) {
      return Error{ErrorCode::invalid_argument,
                   "aggregation " + no_word(options.aggregation, allowed_words<wire::Aggregation>())};
    }
    round.averaging.aggregation = *aggregation;
  }
  if (options.delay_parameter_updates) round.delay_parameter_updates = true;
  if (!options.codec.empty()) {
    STARLING_ASSIGN(round.codec, wire::codec_from_name(options.codec));
  }
  if (!options.contribution_codec.empty()) {
    STARLING_ASSIGN(round.contribution_codec, wire::codec_from_name(options.contribution_codec));
  }
  if (options.error_feedback >= 0) round.error_feedback = options.error_feedback;
  round.low_rank = options.low_rank;
  round.audit_rate = options.audit_rate;
  return {};
}

}  // namespace

Result<wire::RunManifest> manifest_of(const SwarmOptions& options) {
  const manifest::Algorithm* algorithm = manifest::find_algorithm(options.algorithm);
  if (algorithm == nullptr) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("algorithm '{}' is none of {}", options.algorithm, manifest::algorithm_names())};
  }
  wire::RunManifest manifest;
  algorithm->compose(manifest);
  // Where the model is cut into cells, the swarm is the holders of one.
  if (manifest.model.experts.cells.update == wire::CellUpdate::arrival) wire::step_on_arrival(manifest);
  if (manifest.local) {
    manifest.local->schedule =
        constant(manifest.local->optimizer.kind == wire::OptimizerKind::sgd ? kRate : kNormalizedRate);
    if (options.mix_every > 0) manifest.local->mix_every = options.mix_every;
  } else {
    step_plainly(manifest);
  }
  manifest.model.architecture = wire::Architecture::script;
  manifest.model.script.tensors = tensors_of(options);
  manifest.run_id = "sim";
  manifest.seed = options.seed;
  manifest.target_batch_size = options.target_batch_size;
  manifest.peers_max = kLanes;
  manifest.flops_per_sample = 1e9;
  manifest.checkpoint_rounds = kCheckpointRounds;
  STARLING_TRY(read_round(options, manifest.round));
  const bool centered = manifest.round.averaging.aggregation == wire::Aggregation::centered_clip;
  if (centered || options.steps_with_momentum) step_with_momentum(manifest);
  manifest.micro_batch_size = kMicroBatch;
  manifest.data.kind = wire::DataKind::labelled;
  manifest.data.train_items = options.epoch_samples;
  if (options.epoch_samples == 0) manifest.data.sampling = wire::Sampling::independent;
  wire::Checker check;
  wire::check_round_parts(check, manifest);
  STARLING_TRY(check.status());
  manifest.initial_state_digest = state::state_digest(Learner(manifest, {}).state());
  return manifest;
}

}  // namespace starling::sim
