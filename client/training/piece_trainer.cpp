#include "client/training/piece_trainer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "client/optim/optimizer.h"
#include "client/training/batches.h"
#include "client/training/cell_tasks.h"
#include "client/training/dataset.h"
#include "client/training/devices.h"
#include "client/training/guarded.h"
#include "client/training/process_setup.h"
#include "client/training/tensor_views.h"
#include "client/training/trunk_tasks.h"
#include "shared/base/words.h"
#include "shared/run/epochs.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"

namespace starling::training {
namespace {

Error only_tasks() {
  return {ErrorCode::unsupported, "this trainer has a piece of the model: it computes segments, and no whole batches"};
}

}  // namespace

struct PieceTrainer::Impl {
  Impl(const trainer_link::TrainerResources& given, bool in_bf16)
      : resources(given),
        bf16(in_bf16 && given.manifest.precision == wire::Precision::bf16),
        optimizer(given.manifest),
        cells(given.manifest.model, bf16) {
    if (given.manifest.model.experts.piece != wire::kTrunk) return;
    trunk.emplace(given.manifest.model, given.state.first(optimizer.parameter_count()), given.gradient, bf16);
  }

  Result<double> run(const routing::TrunkTask& task) {
    if (!trunk) return Error{ErrorCode::unsupported, "this trainer has cells of the model alone"};
    const auto id = static_cast<MicroBatchId>(task.step.micro_batch);
    const TrunkTasks::Answers answers{task.experts, task.places, task.results};
    const TrunkTasks::Asking asking{task.inputs, task.outputs};
    const at::AutoGradMode graphs(!task.is_held_out && task.text.empty());
    if (task.step.way == routing::Way::turn) return trunk->turn(id, answers);
    if (task.step.way == routing::Way::judge) {
      if (task.text.empty()) return judge(id, answers);
      STARLING_TRY(score_next(id, answers, task.scores));
      return 0.0;
    }
    if (task.step.way == routing::Way::back) {
      STARLING_TRY(trunk->back(id, task.inputs_gradient, task.results));
    } else if (task.step.segment > 0) {
      STARLING_TRY(trunk->go_on(id, answers, asking));
    } else {
      STARLING_ASSIGN(models::Batch batch, batch_of(task));
      STARLING_TRY(trunk->begin(id, std::move(batch), asking));
    }
    return 0.0;
  }

  Result<models::Batch> batch_of(const routing::TrunkTask& task) {
    if (task.is_held_out) return held_out_samples(task.samples);
    if (task.text.empty()) return samples(task.samples);
    const int vocabulary = resources.manifest.model.vocabulary;
    const bool is_known =
        std::ranges::all_of(task.text, [vocabulary](std::int32_t token) { return token >= 0 && token < vocabulary; });
    if (!is_known) return Error{ErrorCode::invalid_argument, "score a text: the model has no such token"};
    const std::vector<std::int64_t> tokens(task.text.begin(), task.text.end());
    return models::Batch{at::tensor(tokens, at::kLong).unsqueeze(0)};
  }

  // Writes the scores of the token after the text.
  Status score_next(MicroBatchId id, const TrunkTasks::Answers& answers, std::span<float> scores) {
    STARLING_ASSIGN(const TrunkTasks::Scored scored, trunk->judge(id, answers));
    const at::Tensor last = scored.scores[-1];
    if (static_cast<std::size_t>(last.numel()) != scores.size()) {
      return Error{ErrorCode::invalid_argument, "score a text: there is other room for scores than it needs"};
    }
    copy_to(last, scores);
    return {};
  }

  Result<models::Batch> samples(const wire::SampleRange& range) {
    if (resources.shard_bytes) {
      STARLING_ASSIGN(data, open_training_data(resources.manifest, resources.shard_bytes()));
    }
    return sample_batch(resources.manifest, *data, range);
  }

  Result<models::Batch> held_out_samples(const wire::SampleRange& range) const {
    return held_out_batch(*held_out, resources.manifest.model.context, range.first, range.count);
  }

  // Returns what the predictions cost, in nats.
  Result<double> judge(MicroBatchId id, const TrunkTasks::Answers& answers) {
    STARLING_ASSIGN(const TrunkTasks::Scored scored, trunk->judge(id, answers));
    const double before = judged.nats;
    const wire::HeldOutWindows windows = wire::held_out_windows(held_out->items(), resources.manifest.model.context);
    judged.add(scored.scores, scored.batch, windows.scored, *held_out);
    return judged.nats - before;
  }

  trainer_link::TrainerResources resources;
  bool bf16;
  optim::Optimizer optimizer;
  TrainingData data;  // null before the first shard
  std::optional<Dataset> held_out;
  HeldOutSums judged{};             // since the window's begin
  std::optional<TrunkTasks> trunk;  // none without a piece
  CellTasks cells;
};

PieceTrainer::PieceTrainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PieceTrainer::~PieceTrainer() = default;

Result<std::unique_ptr<PieceTrainer>> PieceTrainer::create(const trainer_link::TrainerResources& resources, bool bf16) {
  using Created = Result<std::unique_ptr<PieceTrainer>>;
  const std::size_t parameters = wire::parameter_count(resources.manifest.model);
  if (resources.gradient.size() != parameters || resources.state.size() != wire::state_size(resources.manifest) ||
      resources.journal == nullptr) {
    return Error{ErrorCode::invalid_argument, "create trainer: the shared memory does not fit the piece of the model"};
  }
  return guarded("create trainer", [&]() -> Created {
    set_up_process(resources.threads, resources.manifest.precision);
    auto impl = std::make_unique<Impl>(resources, bf16);
    if (!impl->trunk) return std::unique_ptr<PieceTrainer>(new PieceTrainer(std::move(impl)));
    STARLING_ASSIGN(impl->held_out, Dataset::open(resources.manifest, resources.validation_bytes,
                                                  wire::held_out_items_min(resources.manifest)));
    if (!resources.shard_bytes) {
      STARLING_ASSIGN(impl->data, open_training_data(resources.manifest, {resources.train_bytes, nullptr}));
    }
    return std::unique_ptr<PieceTrainer>(new PieceTrainer(std::move(impl)));
  });
}

wire::ComputeDevice PieceTrainer::device(const Processor& processor) const {
  wire::ComputeDevice device = describe_devices({"cpu"}, processor);
  device.precision = word_of(impl_->bf16 ? wire::Precision::bf16 : wire::Precision::fp32);
  return device;
}

session::StateLayout PieceTrainer::layout() const {
  return {impl_->optimizer.parameter_count(), wire::moment_vectors(impl_->resources.manifest.optimizer)};
}

std::span<float> PieceTrainer::state() { return impl_->resources.state; }

Status PieceTrainer::initialize() {
  state::fill_initial_state(impl_->resources.manifest, state());
  impl_->resources.journal->clear();
  return {};
}

Result<session::BatchReport> PieceTrainer::train_batch(const wire::SampleRange& /*samples*/,
                                                       std::span<float> /*into*/) {
  return only_tasks();
}

Status PieceTrainer::step(RoundIndex round, std::span<const float> gradient) {
  return impl_->optimizer.step(round, gradient, state(), *impl_->resources.journal);
}

Result<session::Evaluation> PieceTrainer::evaluate() {
  if (impl_->judged.bytes == 0) return only_tasks();
  const session::Evaluation evaluation = impl_->judged.evaluation();
  if (std::isfinite(evaluation.bits_per_byte)) return evaluation;
  return Error{ErrorCode::corrupt, "evaluate: the held-out loss is not finite"};
}

Result<std::vector<int>> PieceTrainer::sample_tokens(std::span<const int> /*prompt*/, int /*count*/,
                                                     double /*temperature*/) {
  return only_tasks();
}

Status PieceTrainer::hold(wire::CellIndex cell, std::span<float> parameters, std::span<float> gradient) {
  return guarded("hold experts", [&] { return impl_->cells.hold(cell, parameters, gradient); });
}

void PieceTrainer::let_go(wire::CellIndex cell) { impl_->cells.let_go(cell); }

void PieceTrainer::begin_window() {
  if (impl_->trunk) impl_->trunk->drop_all();
  impl_->judged = {};
  std::fill(impl_->resources.gradient.begin(), impl_->resources.gradient.end(), 0.0F);
}

Result<double> PieceTrainer::run(const routing::TrunkTask& task) {
  return guarded("compute a segment", [&] { return impl_->run(task); });
}

Status PieceTrainer::run(const trainer_link::CellTask& task) {
  return guarded("compute for others", [&] {
    const CellTasks::Units units{task.counts, task.rows, task.inputs};
    return task.is_back ? impl_->cells.backward(task.cell, units, task.upstream, task.answer)
                        : impl_->cells.forward(task.cell, units, task.answer);
  });
}

}  // namespace starling::training
