// The fields of a run's description in the order of its canonical JSON, for the .cpp files that write, read and check
// it. A reader takes any value of a field's type: check_manifest judges it, with its own words.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"
#include "shared/run/run_manifest.h"
#include "shared/wire/checker.h"
#include "shared/wire/fields.h"

namespace starling::wire {

constexpr std::size_t kVersionBytesMax = 32;
constexpr std::int64_t kArtefactBytesMax = std::int64_t{1} << 40;
constexpr std::size_t kTensorsMax = 2000;
constexpr std::size_t kTensorNameBytesMax = 200;
constexpr std::size_t kDimensionsMax = 8;
constexpr std::int64_t kParametersMax = std::int64_t{1} << 36;
constexpr std::size_t kRunIdBytesMax = 40;
constexpr std::size_t kTitleBytesMax = 100;
constexpr std::size_t kCellRunIdBytes = 5;  // that a cell adds to the id of its run (cells.h): ".c511"
constexpr SettingRange<std::int64_t> kRounds{0, 1'000'000'000};

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Artefact>& artefact) {
  visit("sha256", artefact.sha256);
  visit("bytes", artefact.bytes, kAny);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ScriptModel::Tensor>& tensor) {
  visit("name", tensor.name, Text{kTensorNameBytesMax});
  visit("shape", tensor.shape, Items{kDimensionsMax}, Whole{1, kParametersMax});
}

// Visits a setting of the tables in model_options.h and optimizer_options.h.
template <typename Visitor>
auto visiting_settings(Visitor& visit) {
  return [&visit](std::string_view name, auto& value, const auto& setting) { visit(name, value, kAny, setting); };
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ModelOptions>& model) {
  visit("architecture", model.architecture);
  each_model_setting(model, visiting_settings(visit));
  if (!has_program(model)) return;
  visit("program", model.script.program);
  visit("parameters", model.script.parameters);
  visit("tensors", model.script.tensors, Items{kTensorsMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CellOptions>& cells) {
  visit("kind", cells.kind);
  visit("experts_per_cell", cells.experts, kAny, SettingRange<int>{1, kExpertsMax});
  visit("holders", cells.holders, kAny, SettingRange<int>{1, kCellHoldersMax});
  visit("update", cells.update);
  visit("codec", cells.codec);
  visit("answers_min", cells.answers_min, kAny, SettingRange<int>{0, kAnswersMinMax});
  visit("digests", cells.digests, Items{static_cast<std::size_t>(kCellsMax)});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Shard>& shard) {
  each_field(visit, shard.file);
  visit("items", shard.items, kAny);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, DataOptions>& data) {
  visit("kind", data.kind, left_out_if(DataKind::bytes));
  const bool counts_items = data.kind != DataKind::bytes;
  const bool sharded = visit.has("shards", !data.shards.empty());
  if (!sharded) visit("train", data.train);
  if (visit.has("train_items", !sharded && counts_items)) visit("train_items", data.train_items, kAny);
  visit("validation", data.validation);
  if (visit.has("validation_items", counts_items)) visit("validation_items", data.validation_items, kAny);
  visit("tokenizer", data.tokenizer, kLeftOutIfUnset);
  if (sharded) {
    visit("shards", data.shards, Items{kShardsMax});
    visit("mirrors", data.mirrors, Items{kMirrorsMax}, Text{kMirrorBytesMax}, kLeftOutIfUnset);
    visit("mirror_ca", data.mirror_ca, Text{kMirrorCaBytesMax, TextForm::exact}, kLeftOutIfUnset);
    visit("shard_rounds", data.shard_rounds, kAny, left_out_if(DataOptions().shard_rounds));
  }
  visit("sampling", data.sampling, left_out_if(Sampling::epochs));
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, OptimizerOptions>& optimizer) {
  visit("kind", optimizer.kind);
  each_optimizer_setting(optimizer, visiting_settings(visit));
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ScheduleOptions>& schedule) {
  visit("kind", schedule.kind, left_out_if(ScheduleKind::cosine));
  each_schedule_setting(schedule, visiting_settings(visit));
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, LocalOptions>& local) {
  visit("optimizer", local.optimizer);
  visit("schedule", local.schedule);
  visit("partners", local.partners);
  visit("mix_every", local.mix_every, kAny, left_out_if(1), SettingRange<int>{1, 100'000});
  visit("consensus_bound", local.consensus_bound, kAny, kLeftOutIfUnset, SettingRange<double>{0, 1});
  if (visit.has("mixing_rate", !mixes_plainly(local))) {
    visit("mixing_rate", local.mixing_rate, kAny);
    visit("mixing_momentum", local.mixing_momentum, kAny);
    visit("mixing_pull", local.mixing_pull, kAny);
  }
  visit("merge_alpha", local.merge_alpha, kAny, kLeftOutIfUnset);
  visit("fragments", local.fragments, kAny, left_out_if(1));
  visit("eager", local.eager, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, AveragingOptions>& averaging) {
  visit("formation", averaging.formation);
  visit("group_size", averaging.group_size, kAny);
  visit("aggregation", averaging.aggregation, left_out_if(Aggregation::clipped));
}

// Fields with a default were added later and are left out where they have it: manifests without them keep their bytes,
// and so their signatures. A round's fields stand among the manifest's own.
template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RunManifest>& manifest) {
  visit("version", manifest.version, kAny, SettingRange<int>{1, 1});
  visit("run_id", manifest.run_id, Text{kRunIdBytesMax});
  visit("title", manifest.title, Text{kTitleBytesMax, TextForm::exact});  // decode_manifest makes it plain
  visit("seed", manifest.seed, kAny, SettingRange<std::uint64_t>{0, std::numeric_limits<std::int64_t>::max()});
  visit("model", manifest.model);
  visit("cells", manifest.model.experts.cells, kLeftOutIfUnset);
  visit("data", manifest.data);
  visit("optimizer", manifest.optimizer);
  visit("schedule", manifest.schedule);
  visit("local", manifest.local);
  visit("target_batch_size", manifest.target_batch_size, kAny, SettingRange<SampleCount>{1, 1'000'000'000});
  visit("micro_batch_size", manifest.micro_batch_size, kAny, SettingRange<SampleCount>{1, 65536});
  visit("rounds_max", manifest.rounds_max, kAny, kRounds);
  visit("peers_max", manifest.peers_max, kAny, SettingRange<int>{1, 1 << 20});
  visit("flops_per_sample", manifest.flops_per_sample, kAny, SettingRange<double>{0, 1e18});
  visit("codec", manifest.round.codec);
  visit("contribution_codec", manifest.round.contribution_codec);
  visit("error_feedback", manifest.round.error_feedback, kAny, kLeftOutIfUnset, SettingRange<double>{0, 1});
  visit("low_rank", manifest.round.low_rank, kAny, kLeftOutIfUnset, SettingRange<int>{0, kLowRankMax});
  visit("averaging", manifest.round.averaging, kLeftOutIfUnset);
  visit("audit_rate", manifest.round.audit_rate, kAny, kLeftOutIfUnset, SettingRange<double>{0, 1});
  visit("audit_never_bans", manifest.round.audit_never_bans, kLeftOutIfUnset);
  visit("delay_parameter_updates", manifest.round.delay_parameter_updates, kLeftOutIfUnset);
  visit("checkpoint_rounds", manifest.checkpoint_rounds, kAny, left_out_if(RunManifest().checkpoint_rounds), kRounds);
  visit("precision", manifest.precision, left_out_if(Precision::fp32));
  visit("moments", manifest.moments, left_out_if(MomentForm::fp32));
  visit("client_min", manifest.client_min, Text{kVersionBytesMax});
  visit("initial_state_digest", manifest.initial_state_digest, kLeftOutIfUnset);
}

// Checks the ranges of the settings it visits, those of objects in them left out. `of`: the begin of their names.
class RangeChecks {
 public:
  static constexpr bool kChanges = false;
  RangeChecks(Checker& check, std::string of) : check_(check), of_(std::move(of)) {}

  template <typename T, typename... Rules>
  void operator()([[maybe_unused]] std::string_view name, [[maybe_unused]] const T& value, const Rules&... rules) {
    (judge(name, value, rules), ...);
  }
  [[nodiscard]] static bool has(std::string_view /*name*/, bool holds) { return holds; }

 private:
  void judge(std::string_view /*name*/, const auto& /*value*/, const auto& /*rule*/) {}
  template <typename Number>
  void judge(std::string_view name, const Number& value, const SettingRange<Number>& range) {
    check_.within(of_ + std::string(name), value, range.least, range.most);
  }

  Checker& check_;
  std::string of_;
};

inline void check_artefact(Checker& check, std::string_view field, const Artefact& artefact) {
  check.that(!artefact.sha256.is_zero(), std::string(field) + ".sha256", "zero", "the digest of a file");
  check.within(std::string(field) + ".bytes", artefact.bytes, 1, kArtefactBytesMax);
}

// Checks the table `model`, where it is a script.
void check_script(Checker& check, const ScriptModel& script);
// Checks the table `cells`, of a manifest whose table `model` is sound.
void check_cells(Checker& check, const RunManifest& manifest);
// Checks the table `model`.
void check_model(Checker& check, const ModelOptions& model);
// Checks the table `data`. `least`: tokens or samples that each of its files has at least.
void check_data_files(Checker& check, const DataOptions& data, std::int64_t least);

}  // namespace starling::wire
