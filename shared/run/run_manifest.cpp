#include "shared/run/run_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "shared/run/fragments.h"
#include "shared/run/low_rank.h"
#include "shared/run/manifest_fields.h"
#include "shared/run/model_layout.h"
#include "shared/run/moments.h"
#include "shared/run/training_data.h"
#include "shared/wire/codec.h"
#include "shared/wire/limits.h"

namespace starling::wire {
namespace {

constexpr int kByteValues = 256;
constexpr int kGroupSizeMin = 3;  // a pair that loses one of its members has no majority
constexpr double kFlopsMax = 1e18;
// above this, averages lead past their partners' mean by more than the whole distance
constexpr double kGossipGainMax = 2;

bool only_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_run_id(std::string_view text) {
  return !text.empty() && text.size() <= kRunIdBytesMax && only_of(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

// Shown on pages and terminals, so without control characters. Bytes that are not UTF-8 never leave: JSON
// replaces them when it is written, and refuses them when it is read.
bool is_title(std::string_view text) {
  if (text.size() > kTitleBytesMax) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

// True if empty, or numbers with dots between them: "1.2.3".
bool is_version(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kWordBytesMax && only_of(text, "0123456789.") && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string_view::npos;
}

// Checks that the model can learn from data of that kind.
void check_kind(Checker& check, const RunManifest& manifest) {
  const std::string& kind = manifest.data.kind;
  check.word("data.kind", kind, kind == "bytes" || kind == "tokens" || kind == "labelled",
             "'bytes', 'tokens' or 'labelled'");
  const ModelOptions& model = manifest.model;
  if (model.architecture == "albert") check.word("data.kind", kind, kind == "tokens", "'tokens' for an albert");
  if (model.architecture == "gpt") check.word("data.kind", kind, kind != "labelled", "'bytes' or 'tokens' for a gpt");
  if (model.architecture == "resnet" || model.architecture == "mlp") {
    check.word("data.kind", kind, kind == "labelled", fmt::format("'labelled' for a model of {}", model.architecture));
  }
  if (kind == "bytes" && (model.architecture == "gpt" || model.architecture == "script")) {
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
  check.word(name_of("optimizer", "kind"), optimizer.kind, is_optimizer_kind(optimizer.kind),
             "one of " + optimizer_kinds());
  each_optimizer_setting(optimizer, checks("optimizer"));
  check.that(optimizer.kind != "sgd" || !optimizer.nesterov || optimizer.momentum > 0, name_of("optimizer", "nesterov"),
             "true", "false where optimizer.momentum is 0");
  check.word(name_of("schedule", "kind"), schedule.kind, is_schedule_kind(schedule.kind), "one of " + schedule_kinds());
  each_schedule_setting(schedule, checks("schedule"));
  check.that(!has_end(schedule) || schedule.warmup_rounds <= schedule.total_rounds,
             name_of("schedule", "warmup_rounds"), fmt::format("{}", schedule.warmup_rounds),
             fmt::format("at most {} ({})", name_of("schedule", "total_rounds"), schedule.total_rounds));
}

// Checks the settings of rounds that average a fragment of the vector.
void check_fragments(Checker& check, const RunManifest& manifest) {
  const int fragments = manifest.local->fragments;
  const std::string found = fmt::format("{}", fragments);
  check.within("local.fragments", fragments, 1, kFragmentsMax);
  if (!check.status().ok() || fragments == 1) return;
  check.that(manifest.delay_parameter_updates, "local.fragments", found,
             "1 unless delay_parameter_updates is true: the others go on while one is averaged");
  check.that(!manifest.local->eager, "local.eager", "true",
             "false where local.fragments is above 1: a fragment's displacement tells nothing of the others");
  const std::string& kind = manifest.optimizer.kind;
  check.word("optimizer.kind", kind, kind == "sgd" || kind == "adamw",
             "'sgd' or 'adamw' where local.fragments is above 1: parameters step one by one");
  const auto parameters = check.status().ok() ? parameter_count(manifest.model) : 0;
  check.that(parameters == 0 || parameters >= static_cast<std::size_t>(fragments) * static_cast<std::size_t>(fragments),
             "local.fragments", found, "less for so small a model");
}

// Checks the gossip settings.
void check_gossip(Checker& check, const LocalOptions& local) {
  const auto one_of_gossip = [&](const char* field, auto found, auto without) {
    check.that(!local.partners.empty() || found == without, field, fmt::format("{}", found),
               fmt::format("{} where local.partners is empty: nobody mixes between rounds", without));
  };
  const LocalOptions none;
  one_of_gossip("local.mix_every", local.mix_every, none.mix_every);
  one_of_gossip("local.consensus_bound", local.consensus_bound, none.consensus_bound);
  one_of_gossip("local.mixing_rate", local.mixing_rate, none.mixing_rate);
  one_of_gossip("local.mixing_momentum", local.mixing_momentum, none.mixing_momentum);
  one_of_gossip("local.mixing_pull", local.mixing_pull, none.mixing_pull);
  const auto above_0 = [&](const char* field, double found) {
    check.that(found > 0 && found <= kGossipGainMax, field, fmt::format("{}", found),
               fmt::format("above 0, and at most {}", kGossipGainMax));
  };
  above_0("local.mixing_rate", local.mixing_rate);
  above_0("local.mixing_pull", local.mixing_pull);
  check.that(local.mixing_momentum >= 0 && local.mixing_momentum < 1, "local.mixing_momentum",
             fmt::format("{}", local.mixing_momentum), "0 or more, and below 1");
  check.that(local.consensus_bound == 0 || local.mixing_pull == local.mixing_rate, "local.consensus_bound",
             fmt::format("{}", local.consensus_bound),
             "0 where local.mixing_pull is not local.mixing_rate: how far what partners send is apart tells nothing of "
             "how far their parameters are, then");
}

void check_local(Checker& check, const LocalOptions& local, bool delays) {
  RangeChecks ranges(check, "local.");
  each_field(ranges, local);
  check_optimizer(check, "local.", local.optimizer, local.schedule);
  const std::string& partners = local.partners;
  const bool known = partners == "complete" || partners == "ring" || partners == "exponential" ||
                     partners == "alternating-exponential-ring" || partners == "random" || partners == "grid";
  check.word("local.partners", partners, partners.empty() || known,
             "'complete', 'ring', 'exponential', 'alternating-exponential-ring', 'random' or 'grid', or empty: nobody "
             "mixes between "
             "rounds");
  check.that(
      !delays || partners.empty(), "local.partners", fmt::format("'{}'", partners),
      "empty where delay_parameter_updates is true: parameters that have not heard of the last round do not mix");
  check.that(local.merge_alpha >= 0 && local.merge_alpha < 1, "local.merge_alpha", fmt::format("{}", local.merge_alpha),
             "0 or more, and below 1");
  check.that(delays || local.merge_alpha == 0, "local.merge_alpha", fmt::format("{}", local.merge_alpha),
             "0 unless delay_parameter_updates is true");
  check.that(delays || !local.eager, "local.eager", "true", "false unless delay_parameter_updates is true");
  check_gossip(check, local);
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
    const bool bytes = data.kind == "bytes";
    check.that(per_lane >= needed, bytes ? "data.train.bytes" : "data.train_items",
               fmt::format("{}", bytes ? data.train.bytes : data.train_items),
               fmt::format("at least {}, or {}", needed * manifest.peers_max + (labelled ? 0 : manifest.model.context),
                           smaller));
  }
  check.within("flops_per_sample", manifest.flops_per_sample, 1, kFlopsMax);
}

void check_codecs(Checker& check, const RunManifest& manifest) {
  const Result<Codec> results = codec_from_name(manifest.codec);
  check.that(results.ok(), "codec", fmt::format("'{}'", manifest.codec), fmt::format("one of {}", codec_names()));
  check.that(manifest.low_rank == 0 || manifest.contribution_codec.empty(), "contribution_codec",
             fmt::format("'{}'", manifest.contribution_codec), "empty where low_rank is not 0");
  const auto layout = check.status().ok() ? model_layout(manifest.model) : std::vector<ParameterInfo>();
  if (!layout.empty() && manifest.low_rank > 0) {  // nothing is known of a script's file before it was looked at
    check.that(!low_rank_layout(layout, manifest.low_rank).matrices.empty(), "low_rank",
               fmt::format("{}", manifest.low_rank), "0, or fewer: no matrix of this model gains from so many factors");
  }
  const bool separate = !manifest.contribution_codec.empty();
  const Result<Codec> contributions = separate ? codec_from_name(manifest.contribution_codec) : results;
  check.that(contributions.ok(), "contribution_codec", fmt::format("'{}'", manifest.contribution_codec),
             fmt::format("one of {}", codec_names()));
  if (!results.ok() || !contributions.ok()) return;
  const bool sparse_results = !carries_results(*results);
  check.that((!sparse_results && carries_results(*contributions)) || manifest.error_feedback > 0, "error_feedback", "0",
             "above 0 (0.95, say) where anything travels as sparse");
  check.that(
      !sparse_results || manifest.optimizer.kind == "sgd", "codec", "'sparse'",
      "another one where optimizer.kind is not 'sgd': what is said in a later round, but all at once, has to count "
      "as much as if it had been said in time");
  check.that(!sparse_results || manifest.low_rank == 0, "codec", "'sparse'",
             "another one where low_rank is not 0: factors make up for matrices, not for what a codec leaves out");
  check.that(
      !sparse_results || manifest.averaging.formation != "grid", "averaging.formation", "'grid'",
      "'auto' or 'one-group' where codec is 'sparse': what columns and their heads average again has to be whole");
  check.that(!sparse_results || !manifest.local || manifest.local->partners.empty(), "codec", "'sparse'",
             "another one where local.partners is not empty: mixings have no error feedback");
}

void check_moments(Checker& check, const RunManifest& manifest) {
  const auto form = moment_form(manifest.moments);
  const std::string found = fmt::format("'{}'", manifest.moments);
  check.that(form.has_value(), "moments", found, moment_forms());
  if (form == MomentForm::fp32) return;
  check.that(moment_vectors(manifest.optimizer) > 0, "moments", found,
             "'fp32' where optimizer.momentum is 0: there are no moments");
  check.that(!manifest.local || manifest.local->fragments == 1, "moments", found,
             "'fp32' where local.fragments is above 1: moments are rounded in blocks, and fragments begin within them");
}

void check_settings(Checker& check, const RunManifest& manifest) {
  RangeChecks ranges(check, "");
  each_field(ranges, manifest);
  check.that(is_run_id(manifest.run_id), "run_id", fmt::format("'{}'", manifest.run_id),
             "1 to 40 of a-z, 0-9 and hyphen");
  check.that(is_title(manifest.title), "title", "too long or has control characters",
             "at most 100 bytes of plain text");
  check_model(check, manifest.model);
  check_kind(check, manifest);
  check_optimizer(check, "", manifest.optimizer, manifest.schedule);
  if (manifest.local) check_local(check, *manifest.local, manifest.delay_parameter_updates);
  if (manifest.local) check_fragments(check, manifest);
  check.that(manifest.micro_batch_size <= manifest.target_batch_size, "micro_batch_size",
             fmt::format("{}", manifest.micro_batch_size),
             fmt::format("at most target_batch_size ({})", manifest.target_batch_size));
  check_codecs(check, manifest);
  const AveragingOptions& averaging = manifest.averaging;
  check.that(averaging.formation == "auto" || averaging.formation == "one-group" || averaging.formation == "grid",
             "averaging.formation", fmt::format("'{}'", averaging.formation), "'auto', 'one-group' or 'grid'");
  check.that(averaging.formation != "grid" || manifest.low_rank == 0, "averaging.formation", "'grid'",
             "'auto' or 'one-group' where low_rank is not 0: columns and their heads average vectors only once");
  if (averaging.group_size != 0) {
    check.within("averaging.group_size", averaging.group_size, kGroupSizeMin, static_cast<int>(kGroupMembersMax));
  }
  check.that(!manifest.delay_parameter_updates || manifest.low_rank == 0, "delay_parameter_updates", "true",
             "false where low_rank is not 0: factors are computed between averagings, in gradients' place");
  check.word("precision", manifest.precision, manifest.precision == "fp32" || manifest.precision == "bf16",
             "'fp32' or 'bf16'");
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
  if (manifest.data.kind == "labelled") return SampleForm::labelled;
  return manifest.model.architecture == "albert" ? SampleForm::masked_tokens : SampleForm::next_token;
}

std::int64_t sample_space(const RunManifest& manifest, std::size_t shard) {
  const DataOptions& data = manifest.data;
  const std::int64_t whole = data.kind == "bytes" ? data.train.bytes : data.train_items;
  const std::int64_t items = data.shards.empty() ? whole : data.shards[shard].items;
  return sample_form(manifest) == SampleForm::labelled ? items : window_space(items, manifest.model.context);
}

std::string encode_manifest(const RunManifest& manifest) { return encode_fields(manifest); }

Result<RunManifest> decode_manifest(std::string_view json) {
  STARLING_ASSIGN(RunManifest manifest, decode_fields<RunManifest>(json, "run manifest", kManifestBytesMax));
  STARLING_TRY(check_manifest(manifest));
  if (encode_manifest(manifest) != json) {
    return Error{ErrorCode::invalid_argument,
                 "run manifest: it has fields that this version does not know, or is not in canonical form"};
  }
  return manifest;
}

Status check_manifest_settings(const RunManifest& manifest) {
  Checker check;
  check_settings(check, manifest);
  return check.status();
}

Status check_manifest(const RunManifest& manifest) {
  STARLING_TRY(check_manifest_settings(manifest));
  Checker check;
  if (manifest.model.architecture == "script") check_script(check, manifest.model.script);
  check_data(check, manifest);
  return check.status();
}

}  // namespace starling::wire
