#include "shared/manifest/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace starling::manifest {
namespace {

using wire::GossipPartners;
using wire::LocalOptions;
using wire::OptimizerKind;
using wire::OptimizerOptions;
using wire::RunManifest;
using wire::ScheduleOptions;

// x <- x - learning_rate x (mean displacement, with momentum), once per round.
void step_outside(RunManifest& manifest, double learning_rate, double momentum) {
  OptimizerOptions& outer = manifest.optimizer = wire::default_optimizer(OptimizerKind::sgd);
  outer.momentum = momentum;
  outer.nesterov = momentum > 0;
  outer.weight_decay = 0;
  outer.clip_norm = 0;
  manifest.schedule =
      ScheduleOptions{.kind = wire::ScheduleKind::constant, .learning_rate = learning_rate, .warmup_rounds = 0};
}

// A round is many steps long and schedules count rounds, so their counts are small.
LocalOptions step_inside(OptimizerKind kind, double learning_rate) {
  LocalOptions local{wire::default_optimizer(kind), {}};
  local.schedule = ScheduleOptions{.learning_rate = learning_rate, .warmup_rounds = 2, .total_rounds = 200};
  return local;
}

void dedloc(RunManifest& manifest) { manifest.optimizer = wire::default_optimizer(OptimizerKind::adamw); }

void local_sgd(RunManifest& manifest) {
  manifest.local = step_inside(OptimizerKind::sgd, 0.1);
  step_outside(manifest, 1.0, 0.0);
}

void moshpit_sgd(RunManifest& manifest) {
  local_sgd(manifest);
  manifest.round.averaging.formation = wire::Formation::grid;
}

void diloco(RunManifest& manifest) {
  manifest.local = step_inside(OptimizerKind::adamw, 3e-3);
  step_outside(manifest, 0.7, 0.9);
}

void sparseloco(RunManifest& manifest) {
  manifest.local = step_inside(OptimizerKind::adamw, 3e-3);
  step_outside(manifest, 1.0, 0.0);
  manifest.round.codec = wire::Codec::sparse;
  manifest.round.contribution_codec = wire::Codec::sparse;
  manifest.round.error_feedback = 0.95;
}

// Gossip as published has no common average; here one is taken every few rounds, as in its authors' experiments.
void decentralized_adam(RunManifest& manifest) {
  manifest.local = step_inside(OptimizerKind::adamw, 3e-3);
  manifest.local->partners = GossipPartners::exponential;
  manifest.round.delay_parameter_updates = false;
  step_outside(manifest, 1.0, 0.0);
}

// NoLoCo as published has no common average either.
void noloco(RunManifest& manifest) {
  decentralized_adam(manifest);
  manifest.local->partners = GossipPartners::random;
  manifest.local->mix_every = 50;
  manifest.local->mixing_rate = 0.7;
  manifest.local->mixing_momentum = 0.5;
  manifest.local->mixing_pull = 0.7;
}

void streaming_diloco(RunManifest& manifest) {
  diloco(manifest);
  manifest.round.delay_parameter_updates = true;
  manifest.local->fragments = 4;
  manifest.local->merge_alpha = 0.5;
}

void eager_diloco(RunManifest& manifest) {
  diloco(manifest);
  manifest.round.delay_parameter_updates = true;
  manifest.local->eager = true;
}

// The paper's experts have one host each, which steps at once, and a token's mixture is formed over those that answer.
void dmoe(RunManifest& manifest) {
  dedloc(manifest);
  wire::CellOptions& cells = manifest.model.experts.cells;
  cells.experts = 1;
  cells.holders = 1;
  cells.update = wire::CellUpdate::arrival;
  cells.answers_min = 1;
}

constexpr std::array kAlgorithms{
    Algorithm{"dedloc", "one large batch: gradients are averaged, and everybody takes the same step",
              "arXiv 2106.10207", dedloc},
    Algorithm{"local-sgd", "many SGD steps apart, then the mean of the parameters", "arXiv 1805.09767", local_sgd},
    Algorithm{"moshpit-sgd", "local-sgd, with the mean taken in a grid of groups", "arXiv 2103.03239", moshpit_sgd},
    Algorithm{"diloco", "many AdamW steps apart, then a Nesterov step along the mean displacement", "arXiv 2311.08105",
              diloco},
    Algorithm{"sparseloco", "diloco without outer momentum; of all that travels the largest 64 of 4096, in 2 bits",
              "arXiv 2508.15706", sparseloco},
    Algorithm{"streaming-diloco", "diloco by quarters of the parameters in turn, whose steps go on meanwhile",
              "arXiv 2501.18512", streaming_diloco},
    Algorithm{"eager-diloco", "diloco whose steps go on while a round is averaged, from where one's own part leads",
              "arXiv 2502.12996", eager_diloco},
    Algorithm{"decentralized-adam", "AdamW steps apart, mixed with one other's while they go on; then the mean of all",
              "arXiv 2410.11998", decentralized_adam},
    Algorithm{"noloco", "AdamW steps apart, then a momentum step with one other; seldom, the mean of all",
              "arXiv 2506.10911", noloco},
    Algorithm{"dmoe", "a decoder's experts, each held by one volunteer and stepped as gradients arrive",
              "arXiv 2002.04013", dmoe},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

const Algorithm* find_algorithm(std::string_view name) {
  const auto* const found =
      std::find_if(kAlgorithms.begin(), kAlgorithms.end(), [name](const Algorithm& each) { return each.name == name; });
  return found == kAlgorithms.end() ? nullptr : found;
}

std::string algorithm_names() {
  std::string names;
  for (const Algorithm& each : kAlgorithms) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", each.name);
  return names;
}

}  // namespace starling::manifest
