#include "shared/run/run_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "shared/base/plain_text.h"
#include "shared/run/cells.h"
#include "shared/run/manifest_fields.h"
#include "shared/run/model_layout.h"
#include "shared/run/round_parts.h"
#include "shared/run/training_data.h"
#include "shared/wire/limits.h"

namespace starling::wire {
namespace {

constexpr int kByteValues = 256;
constexpr int kGroupSizeMin = 3;  // a pair that loses one of its members has no majority
constexpr double kFlopsMax = 1e18;

bool only_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_run_id(std::string_view text) {
  return !text.empty() && text.size() <= kRunIdBytesMax && only_of(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

// Shown on pages and terminals.
bool is_title(std::string_view text) { return text.size() <= kTitleBytesMax && is_plain_line(text); }

// True if empty, or numbers with dots between them: "1.2.3".
bool is_version(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kVersionBytesMax && only_of(text, "0123456789.") && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string_view::npos;
}

// Checks that the model can learn from data of that kind.
void check_kind(Checker& check, const RunManifest& manifest) {
  const DataKind kind = manifest.data.kind;
  const ModelOptions& model = manifest.model;
  check.word("data.kind", word_of(kind), learns_from(model, kind),
             fmt::format("{} for a model of {}", data_kinds(model), word_of(model.architecture)));
  if (kind == DataKind::bytes) {
    check.that(model.vocabulary == kByteValues, "model.vocabulary", fmt::format("{}", model.vocabulary),
               "256 where data.kind is 'bytes'");
  }
}

// `of`: the begin of the names of the two tables.
void check_optimizer(Checker& check, std::string_view of, const OptimizerOptions& optimizer,
                     const ScheduleOptions& schedule) {
  const auto name_of = [of](std::string_view table, std::string_view name) {
    return fmt::format("{}{}.{}", of, table, name);
  };
  const auto checks = [&](std::string_view table) {
    return [&check, &name_of, table](std::string_view name, auto value, auto range) {
      check.within(name_of(table, name), value, range.least, range.most);
    };
  };
  each_optimizer_setting(optimizer, checks("optimizer"));
  check.that(optimizer.kind != OptimizerKind::sgd || !optimizer.nesterov || optimizer.momentum > 0,
             name_of("optimizer", "nesterov"), "true", "false where optimizer.momentum is 0");
  each_schedule_setting(schedule, checks("schedule"));
  check.that(!has_end(schedule) || schedule.warmup_rounds <= schedule.total_rounds,
             name_of("schedule", "warmup_rounds"), fmt::format("{}", schedule.warmup_rounds),
             fmt::format("at most {} ({})", name_of("schedule", "total_rounds"), schedule.total_rounds));
}

// The number of samples of a round that belong to one lane alone.
SampleCount samples_per_lane(const RunManifest& manifest) {
  const int lanes = lane_place(manifest.data, manifest.seed, manifest.peers_max, 0, 0).lanes;
  SampleCount least = sample_space(manifest, 0) / lanes;
  for (std::size_t i = 1; i < manifest.data.shards.size(); ++i) {
    least = std::min(least, sample_space(manifest, i) / lanes);
  }
  return least;
}

void check_data(Checker& check, const RunManifest& manifest) {
  const DataOptions& data = manifest.data;
  const bool labelled = sample_form(manifest) == SampleForm::labelled;
  check_data_files(check, data, labelled ? 1 : std::int64_t{manifest.model.context} + 1);
  if (!check.status().ok()) return;
  // Lanes never meet as long as one lane alone can fill a round from its own samples.
  const SampleCount per_lane = samples_per_lane(manifest);
  const SampleCount needed = manifest.target_batch_size + manifest.micro_batch_size;
  const std::string smaller =
      fmt::format("peers_max ({}) or target_batch_size ({}) smaller", manifest.peers_max, manifest.target_batch_size);
  if (!data.shards.empty()) {
    check.that(per_lane >= needed, "data.shards", fmt::format("with {} samples for each of its lanes", per_lane),
               fmt::format("with at least {}: make shards larger, or {}", needed, smaller));
  } else {
    const bool bytes = data.kind == DataKind::bytes;
    check.that(per_lane >= needed, bytes ? "data.train.bytes" : "data.train_items",
               fmt::format("{}", bytes ? data.train.bytes : data.train_items),
               fmt::format("at least {}, or {}", needed * manifest.peers_max + (labelled ? 0 : manifest.model.context),
                           smaller));
  }
  check.within("flops_per_sample", manifest.flops_per_sample, 1, kFlopsMax);
}

void check_moments(Checker& check, const RunManifest& manifest) {
  if (manifest.moments == MomentForm::fp32) return;
  check.word("moments", word_of(manifest.moments), moment_vectors(manifest.optimizer) > 0,
             "'fp32' where optimizer.momentum is 0: there are no moments");
}

void check_settings(Checker& check, const RunManifest& manifest) {
  RangeChecks ranges(check, "");
  each_field(ranges, manifest);
  check.that(is_run_id(manifest.run_id), "run_id", fmt::format("'{}'", manifest.run_id),
             "1 to 40 of a-z, 0-9 and hyphen");
  check.that(is_title(manifest.title), "title", "too long, or has control characters",
             "at most 100 bytes of plain text");
  check_model(check, manifest.model);
  check_kind(check, manifest);
  check_optimizer(check, "", manifest.optimizer, manifest.schedule);
  if (manifest.local) {
    RangeChecks local_ranges(check, "local.");
    each_field(local_ranges, *manifest.local);
    check_optimizer(check, "local.", manifest.local->optimizer, manifest.local->schedule);
  }
  check.that(manifest.micro_batch_size <= manifest.target_batch_size, "micro_batch_size",
             fmt::format("{}", manifest.micro_batch_size),
             fmt::format("at most target_batch_size ({})", manifest.target_batch_size));
  check_cells(check, manifest);
  check_round_parts(check, manifest);
  if (const int group_size = manifest.round.averaging.group_size; group_size != 0) {
    check.within("averaging.group_size", group_size, kGroupSizeMin, static_cast<int>(kGroupMembersMax));
  }
  check_moments(check, manifest);
  check.that(is_version(manifest.client_min), "client_min", fmt::format("'{}'", manifest.client_min),
             "a version such as '0.1.0', or empty");
}

}  // namespace

bool mixes_plainly(const LocalOptions& local) {
  const LocalOptions plain;
  return local.mixing_rate == plain.mixing_rate && local.mixing_momentum == plain.mixing_momentum &&
         local.mixing_pull == plain.mixing_pull;
}

SampleForm sample_form(const RunManifest& manifest) {
  if (manifest.data.kind == DataKind::labelled) return SampleForm::labelled;
  return text_form(manifest.model);
}

std::int64_t sample_space(const RunManifest& manifest, std::size_t shard) {
  const DataOptions& data = manifest.data;
  const std::int64_t whole = data.kind == DataKind::bytes ? data.train.bytes : data.train_items;
  const std::int64_t items = data.shards.empty() ? whole : data.shards[shard].items;
  return sample_form(manifest) == SampleForm::labelled ? items : window_space(items, manifest.model.context);
}

std::string encode_manifest(const RunManifest& manifest) { return encode_fields(manifest); }

Result<RunManifest> decode_manifest(std::string_view json) {
  STARLING_ASSIGN(RunManifest manifest, decode_fields<RunManifest>(json, "run manifest", kManifestBytesMax));
  // Older versions signed titles that are not plain.
  const std::string title = std::exchange(manifest.title, plain_line(manifest.title));
  STARLING_TRY(check_manifest(manifest));
  if (has_cells(manifest.model) && manifest.model.experts.cells.digests.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "run manifest: cells.digests is missing: the states that cells begin with"};
  }
  RunManifest as_signed = manifest;
  as_signed.title = title;
  if (encode_manifest(as_signed) != json) {
    return Error{ErrorCode::invalid_argument,
                 "run manifest: it has fields that this version does not know, or is not in canonical form"};
  }
  return manifest;
}

std::string client_min_of(std::string_view json) {
  const auto document = JsonDocument::parse(json, kManifestBytesMax);
  if (!document.ok()) return {};
  JsonReader reader = document->root();
  std::string version;
  reader.text("client_min", version, kVersionBytesMax);
  return reader.status().ok() && is_version(version) ? version : std::string();
}

Status check_manifest_settings(const RunManifest& manifest) {
  Checker check;
  check_settings(check, manifest);
  return check.status();
}

Status check_manifest(const RunManifest& manifest) {
  STARLING_TRY(check_manifest_settings(manifest));
  Checker check;
  if (has_program(manifest.model)) check_script(check, manifest.model.script);
  check_data(check, manifest);
  return check.status();
}

}  // namespace starling::wire
