// The optimizer of a run and the learning rate's schedule, each chosen by a word, with exactly the settings that this
// word has. A manifest's writer, reader and checks, and the operator's settings, all follow each_optimizer_setting()
// and each_schedule_setting(): one table each, so that no door knows a setting that another does not.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace starling::wire {

// The rule of a step. accum_adamw is AdamW whose stored moments follow the mean gradient of a window of rounds.
enum class OptimizerKind : std::uint8_t { sgd, adamw, lamb, muon, accum_adamw };
inline constexpr std::array<std::string_view, 5> kOptimizerWords{"sgd", "adamw", "lamb", "muon", "accum_adamw"};
inline std::span<const std::string_view> words_of(OptimizerKind /*kind*/) { return kOptimizerWords; }

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double momentum = 0.9;        // sgd, and muon's hidden matrices
  bool nesterov = false;        // sgd, and muon's hidden matrices
  double beta1 = 0.9;           // all others, and muon's other tensors
  double beta2 = 0.99;          // all others, and muon's other tensors
  double epsilon = 1e-8;        // all others, and muon's other tensors
  double trust_min = 0;         // lamb: least and most of a tensor's trust ratio
  double trust_max = 10;        // lamb
  int newton_schulz_steps = 5;  // muon
  double update_rms = 0.2;  // muon: root mean square of a hidden matrix's update, as a multiple of the learning rate
  std::int64_t window_rounds = 8;  // accum_adamw: rounds between two updates of the stored moments
  // matrices only, not norms or biases; decoupled, except for sgd, which adds it to the gradient, and lamb, which adds
  // it to the update
  double weight_decay = 0.1;
  double clip_norm = 1.0;  // limit for the averaged gradient; 0: no clipping
};

// The learning rate by round: linear warm-up, then
//   cosine        half a cosine down to final_fraction of the peak at total_rounds, and on at that
//   linear        a straight line to the same
//   inverse_sqrt  the peak times the root of warmup_rounds (at least 1) over the round's number, counted from 1
//   constant      the peak
enum class ScheduleKind : std::uint8_t { cosine, linear, inverse_sqrt, constant };
inline constexpr std::array<std::string_view, 4> kScheduleWords{"cosine", "linear", "inverse_sqrt", "constant"};
inline std::span<const std::string_view> words_of(ScheduleKind /*kind*/) { return kScheduleWords; }

// The schedule and its settings.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::cosine;
  double learning_rate = 3e-3;
  std::int64_t warmup_rounds = 50;
  std::int64_t total_rounds = 1000;  // cosine, linear
  double final_fraction = 0.1;       // cosine, linear
};

// A setting's range, both ends included.
template <typename Number>
struct SettingRange {
  Number least;
  Number most;
};

// The options of `kind` when the operator says nothing more.
OptimizerOptions default_optimizer(OptimizerKind kind);

// Number of vectors of the parameters' length that the optimizer keeps beside them, and that replicas hand to each
// other.
int moment_vectors(const OptimizerOptions& options);
// True if the learning rate stops falling at total_rounds.
bool has_end(const ScheduleOptions& options);

// Calls visit(name, value, range) for each setting that options.kind has, in the order of the canonical form. Options
// may be const.
template <typename Options, typename Visit>
void each_optimizer_setting(Options& options, const Visit& visit) {
  using Range = SettingRange<double>;
  constexpr Range kDecayRate{0, 0.999999};
  const bool is_sgd = options.kind == OptimizerKind::sgd, is_muon = options.kind == OptimizerKind::muon;
  if (is_sgd || is_muon) {
    visit("momentum", options.momentum, kDecayRate);
    visit("nesterov", options.nesterov, SettingRange<bool>{false, true});
  }
  if (!is_sgd) {
    visit("beta1", options.beta1, kDecayRate);
    visit("beta2", options.beta2, kDecayRate);
    visit("epsilon", options.epsilon, Range{1e-16, 1});
  }
  if (options.kind == OptimizerKind::lamb) {
    visit("trust_min", options.trust_min, Range{0, 1});
    visit("trust_max", options.trust_max, Range{1, 1e6});
  }
  if (is_muon) {
    visit("newton_schulz_steps", options.newton_schulz_steps, SettingRange<int>{1, 20});
    visit("update_rms", options.update_rms, Range{1e-6, 100});
  }
  if (options.kind == OptimizerKind::accum_adamw) {
    visit("window_rounds", options.window_rounds, SettingRange<std::int64_t>{1, 10'000});
  }
  visit("weight_decay", options.weight_decay, Range{0, 10});
  visit("clip_norm", options.clip_norm, Range{0, 1e6});
}

// Like each_optimizer_setting, for a schedule.
template <typename Options, typename Visit>
void each_schedule_setting(Options& options, const Visit& visit) {
  constexpr std::int64_t kRoundsMax = 1'000'000'000;
  using Range = SettingRange<double>;
  using Rounds = SettingRange<std::int64_t>;
  visit("learning_rate", options.learning_rate, Range{1e-12, 10});
  visit("warmup_rounds", options.warmup_rounds, Rounds{0, kRoundsMax});
  if (!has_end(options)) return;
  visit("total_rounds", options.total_rounds, Rounds{1, kRoundsMax});
  visit("final_fraction", options.final_fraction, Range{0, 1});
}

}  // namespace starling::wire
