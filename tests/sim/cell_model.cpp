#include "tests/sim/cell_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "client/routing/gate_search.h"
#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/manifest/algorithms.h"
#include "shared/run/cells.h"
#include "shared/run/round_parts.h"
#include "shared/state/state_digest.h"
#include "tests/sim/learner.h"
#include "tests/sim/quadratic_problem.h"

namespace starling::sim {
namespace {

constexpr int kWidth = 4;
constexpr int kContext = 3;
constexpr std::size_t kVectors = 3;       // an expert has
constexpr double kRate = 6;               // a step of it brings an expert nearer to its teacher by some per cent
constexpr SampleCount kBatchOfPeer = 16;  // so that rounds take some seconds, like real ones
constexpr RoundIndex kCheckpointRounds = 4;

// Uniform in [-1, 1), from three names.
float chance(std::uint64_t a, std::uint64_t b, std::size_t place) { return target(mix64(a ^ mix64(b)), place); }

std::uint64_t token_name(std::uint64_t seed, const wire::SampleRange& samples, std::size_t token, int context) {
  const auto sample = static_cast<std::uint64_t>(samples.first) + token / static_cast<std::size_t>(context);
  const auto of_caller = static_cast<std::uint64_t>(samples.lane) << 40;
  return mix64(seed ^ (of_caller + (sample << 8) + token % static_cast<std::size_t>(context)));
}

float gate_score(std::uint64_t token, std::size_t layer, std::size_t row) { return chance(token, 1000 + layer, row); }

}  // namespace

Result<wire::RunManifest> cell_run_of(const CellSwarmOptions& options) {
  wire::RunManifest manifest;
  manifest::find_algorithm("dedloc")->compose(manifest);
  manifest.optimizer.kind = wire::OptimizerKind::sgd;
  manifest.optimizer.momentum = manifest.optimizer.weight_decay = manifest.optimizer.clip_norm = 0;
  manifest.schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = kRate, .warmup_rounds = 0};
  wire::ModelOptions& model = manifest.model;
  model = {.architecture = wire::Architecture::decoder, .layers = options.layers, .width = kWidth, .heads = 1};
  model.context = kContext;
  model.mlp_width = 1;
  model.experts.rows = options.rows;
  model.experts.columns = options.columns;
  model.experts.cells.experts = options.experts_per_cell;
  model.experts.cells.holders = options.holders;
  model.experts.cells.codec = wire::Codec::fp32;  // results are compared to the bit
  model.experts.cells.answers_min = options.answers_min;
  manifest.run_id = "sim";
  manifest.seed = options.seed;
  manifest.target_batch_size = kBatchOfPeer * options.peers;
  manifest.peers_max = kLanes;
  manifest.flops_per_sample = 1e9;
  manifest.checkpoint_rounds = kCheckpointRounds;
  manifest.micro_batch_size = kMicroBatch;
  manifest.data.kind = wire::DataKind::bytes;
  manifest.data.sampling = wire::Sampling::independent;
  for (wire::CellIndex cell = 0; cell < std::ssize(wire::cells_of(model)); ++cell) {
    const wire::RunManifest piece = wire::piece_of(manifest, cell);
    wire::Checker check;
    wire::check_round_parts(check, piece);
    STARLING_TRY(check.status());
    model.experts.cells.digests.push_back(state::state_digest(Learner(piece, {}).state()));
  }
  return manifest;
}

float scale_of(std::span<const float> cell, std::size_t expert, std::size_t place, std::size_t width) {
  const float* const own = cell.data() + expert * kVectors * width + place;
  return (own[0] + own[width] + own[2 * width]) / (static_cast<float>(kVectors) * kStart);
}

std::vector<float> results_of(std::span<const float> cell, const ExpertUnits& units, std::size_t width) {
  std::vector<float> results(units.rows.size() * width);
  std::size_t unit = 0;
  for (std::size_t expert = 0; expert < units.counts.size(); ++expert) {
    for (std::int32_t i = 0; i < units.counts[expert]; ++i, ++unit) {
      const std::span<const float> input = units.inputs.subspan(static_cast<std::size_t>(units.rows[unit]) * width);
      for (std::size_t k = 0; k < width; ++k) results[unit * width + k] = scale_of(cell, expert, k, width) * input[k];
    }
  }
  return results;
}

std::vector<float> gradient_of(std::span<const float> cell, const ExpertUnits& units, std::size_t width,
                               std::span<float> gradient) {
  std::vector<float> of_inputs(units.inputs.size());
  std::size_t unit = 0;
  for (std::size_t expert = 0; expert < units.counts.size(); ++expert) {
    for (std::int32_t i = 0; i < units.counts[expert]; ++i, ++unit) {
      const std::size_t row = static_cast<std::size_t>(units.rows[unit]) * width;
      for (std::size_t k = 0; k < width; ++k) {
        const float upstream = units.upstream[unit * width + k];
        of_inputs[row + k] += scale_of(cell, expert, k, width) * upstream;
        const float own = upstream * units.inputs[row + k] / (static_cast<float>(kVectors) * kStart);
        for (std::size_t v = 0; v < kVectors; ++v) gradient[(expert * kVectors + v) * width + k] += own;
      }
    }
  }
  return of_inputs;
}

float score_of(std::span<const float> scores, const wire::ExpertOptions& experts, std::int32_t expert) {
  const float row = scores[static_cast<std::size_t>(expert / experts.columns)];
  if (experts.columns == 1) return row;
  return row + scores[static_cast<std::size_t>(experts.rows + expert % experts.columns)];
}

double NamedTrunk::run(const routing::TrunkTask& task) {
  using routing::Way;
  MicroBatch& micro_batch = micro_batches_[task.step.micro_batch];
  double loss = 0;
  if (task.step.way == Way::back) {
    micro_batch.gradient.assign(task.inputs_gradient.begin(), task.inputs_gradient.end());
  } else {
    const std::vector<float> values = task.step.segment == 0 ? first_values(task.samples) : mixture(task, micro_batch);
    if (task.step.way == Way::forth) {
      std::copy(values.begin(), values.end(), task.inputs.begin());
      write_scores(task, micro_batch);
      return 0;
    }
    loss = judge(task, values, micro_batch);
  }
  if (task.step.segment > 0) write_upstream(task, micro_batch);
  if (task.step.segment == 0 || task.step.way == Way::judge) micro_batches_.erase(task.step.micro_batch);
  return loss;
}

std::vector<float> NamedTrunk::first_values(const wire::SampleRange& samples) const {
  const auto tokens = static_cast<std::size_t>(samples.count * model_.context);
  std::vector<float> values(tokens * width());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = chance(token_name(seed_, samples, i / width(), model_.context), 1, i % width());
  }
  return values;
}

void NamedTrunk::write_scores(const routing::TrunkTask& task, MicroBatch& micro_batch) const {
  const auto layer = static_cast<std::size_t>(task.step.segment);
  const auto tokens = static_cast<std::size_t>(task.samples.count * model_.context);
  const std::size_t scores = task.outputs.size() / tokens;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    task.outputs[i] = gate_score(token_name(seed_, task.samples, i / scores, model_.context), layer, i % scores);
  }
  micro_batch.scores.resize(layer + 1);
  micro_batch.scores[layer].assign(task.outputs.begin(), task.outputs.end());
}

// The results, weighed by the softmax over the scores of experts that have answered.
std::vector<float> NamedTrunk::mixture(const routing::TrunkTask& task, MicroBatch& micro_batch) const {
  const auto layer = static_cast<std::size_t>(task.step.segment - 1);
  const auto active = static_cast<std::size_t>(model_.experts.active);
  const std::size_t tokens = task.experts.size() / active;
  const std::vector<float>& scores = micro_batch.scores[layer];
  micro_batch.places.resize(layer + 1);
  micro_batch.places[layer].assign(task.places.begin(), task.places.end());
  micro_batch.weights.resize(layer + 1);
  std::vector<float>& weights = micro_batch.weights[layer];
  weights.assign(task.experts.size(), 0.0F);
  for (std::size_t token = 0; token < tokens; ++token) {
    const std::span<const float> own = std::span(scores).subspan(token * (scores.size() / tokens));
    float sum = 0;
    for (std::size_t place = token * active; place < (token + 1) * active; ++place) {
      if (task.experts[place] < 0) continue;
      sum += weights[place] = std::exp(score_of(own, model_.experts, task.experts[place]));
    }
    for (std::size_t place = token * active; sum > 0 && place < (token + 1) * active; ++place) weights[place] /= sum;
  }
  std::vector<float> values(tokens * width());
  for (std::size_t unit = 0; unit < task.places.size(); ++unit) {
    const auto place = static_cast<std::size_t>(task.places[unit]);
    for (std::size_t k = 0; k < width(); ++k) {
      values[place / active * width() + k] += weights[place] * task.results[unit * width() + k];
    }
  }
  return values;
}

double NamedTrunk::judge(const routing::TrunkTask& task, std::span<const float> values, MicroBatch& micro_batch) const {
  double loss = 0;
  micro_batch.gradient.resize(values.size());
  for (std::size_t token = 0; token < values.size() / width(); ++token) {
    const std::vector<float> wanted = taught(token_name(seed_, task.samples, token, model_.context));
    for (std::size_t k = 0; k < width(); ++k) {
      const float off = values[token * width() + k] - wanted[k];
      micro_batch.gradient[token * width() + k] = off;
      loss += 0.5 * static_cast<double>(off) * off;
    }
  }
  return loss;
}

void NamedTrunk::write_upstream(const routing::TrunkTask& task, const MicroBatch& micro_batch) const {
  const auto layer = static_cast<std::size_t>(task.step.segment - 1);
  const std::vector<float>& weights = micro_batch.weights[layer];
  const std::vector<std::int32_t>& places = micro_batch.places[layer];
  const auto active = static_cast<std::size_t>(model_.experts.active);
  for (std::size_t unit = 0; unit < places.size(); ++unit) {
    const auto place = static_cast<std::size_t>(places[unit]);
    for (std::size_t k = 0; k < width(); ++k) {
      task.results[unit * width() + k] = weights[place] * micro_batch.gradient[place / active * width() + k];
    }
  }
}

// A token's values after all layers, through the teacher's experts: theirs have scales between 0.5 and 1.5.
std::vector<float> NamedTrunk::taught(std::uint64_t token) const {
  const wire::ExpertOptions& experts = model_.experts;
  const routing::Grid grid{experts.rows, experts.columns};
  std::vector<float> values(width());
  for (std::size_t k = 0; k < width(); ++k) values[k] = chance(token, 1, k);
  routing::GateSearch search(grid, experts.active);
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(model_.layers); ++layer) {
    std::vector<float> scores(grid.scores());
    for (std::size_t row = 0; row < scores.size(); ++row) scores[row] = gate_score(token, layer, row);
    std::vector<std::int32_t> chosen(static_cast<std::size_t>(experts.active));
    search.choose(std::vector<bool>(static_cast<std::size_t>(grid.experts()), true), scores, chosen);
    float sum = 0;
    std::vector<float> mixed(width());
    for (const std::int32_t expert : chosen) {
      if (expert < 0) continue;
      const float weight = std::exp(score_of(scores, experts, expert));
      sum += weight;
      for (std::size_t k = 0; k < width(); ++k) {
        const auto name = static_cast<std::uint64_t>(expert) + 64 * layer;
        mixed[k] += weight * (1 + 0.5F * chance(seed_, name, k)) * values[k];
      }
    }
    for (std::size_t k = 0; k < width(); ++k) values[k] = mixed[k] / sum;
  }
  return values;
}

}  // namespace starling::sim
