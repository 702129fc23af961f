#include "shared/wire/run_manifest.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "shared/wire/codec.h"
#include "shared/wire/group_info.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"
#include "shared/wire/low_rank.h"
#include "shared/wire/training_data.h"

namespace starling::wire {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kTitleBytesMax = 100;
constexpr std::size_t kRunIdBytesMax = 40;
constexpr std::size_t kWordBytesMax = 32;  // architecture, optimizer, codec, version
constexpr int kLanesMax = 1 << 20;
// Beyond these no volunteer's machine holds the model; what a machine does hold is the trainer's to say.
constexpr int kLayersMax = 256;
constexpr int kWidthMax = 16384;
constexpr int kContextMax = 65536;
constexpr int kByteValues = 256;
constexpr int kGroupSizeMin = 3;  // a pair that loses one of its members has no majority
constexpr std::int64_t kArtefactBytesMax = std::int64_t{1} << 40;
constexpr std::int64_t kRoundsMax = 1'000'000'000;
constexpr SampleCount kBatchMax = 1'000'000'000;
constexpr SampleCount kMicroBatchMax = 65536;
constexpr double kFlopsMax = 1e18;

// Keeps the first failure: "run manifest: model.layers is 0; it must be 1 to 256".
class Checker {
 public:
  // A NaN fails, since no comparison with it holds.
  template <typename Number>
  void within(std::string_view field, Number value, std::type_identity_t<Number> least,
              std::type_identity_t<Number> most) {
    that(value >= least && value <= most, field, fmt::format("{}", value), fmt::format("{} to {}", least, most));
  }
  void word(std::string_view field, std::string_view value, bool known, std::string_view words) {
    that(known, field, fmt::format("'{}'", value), words);
  }
  void that(bool holds, std::string_view field, std::string_view found, std::string_view wanted) {
    if (holds || !status_.ok()) return;
    status_ =
        Error{ErrorCode::invalid_argument, fmt::format("run manifest: {} is {}; it must be {}", field, found, wanted)};
  }
  [[nodiscard]] Status status() const { return status_; }

 private:
  Status status_;
};

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

// Empty, or numbers with dots between them: "1.2.3".
bool is_version(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kWordBytesMax && only_of(text, "0123456789.") && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string_view::npos;
}

void check_model(Checker& check, const ModelOptions& model) {
  check.word("model.architecture", model.architecture, model.architecture == "gpt", "'gpt'");
  check.within("model.layers", model.layers, 1, kLayersMax);
  check.within("model.width", model.width, 1, kWidthMax);
  check.within("model.heads", model.heads, 1, kWidthMax);
  check.that(model.heads < 1 || model.width % model.heads == 0, "model.width", fmt::format("{}", model.width),
             fmt::format("a multiple of model.heads ({})", model.heads));
  check.within("model.context", model.context, 1, kContextMax);
  check.within("model.vocabulary", model.vocabulary, kByteValues, kByteValues);
}

void check_optimizer(Checker& check, const RunManifest& manifest) {
  const auto checks = [&check](std::string_view table) {
    return [&check, table](std::string_view name, auto value, auto range) {
      check.within(fmt::format("{}.{}", table, name), value, range.least, range.most);
    };
  };
  const OptimizerOptions& optimizer = manifest.optimizer;
  check.word("optimizer.kind", optimizer.kind, is_optimizer_kind(optimizer.kind), "one of " + optimizer_kinds());
  each_optimizer_setting(optimizer, checks("optimizer"));
  check.that(optimizer.kind != "sgd" || !optimizer.nesterov || optimizer.momentum > 0, "optimizer.nesterov", "true",
             "false where optimizer.momentum is 0");
  const ScheduleOptions& schedule = manifest.schedule;
  check.word("schedule.kind", schedule.kind, is_schedule_kind(schedule.kind), "one of " + schedule_kinds());
  each_schedule_setting(schedule, checks("schedule"));
  check.that(!has_end(schedule) || schedule.warmup_rounds <= schedule.total_rounds, "schedule.warmup_rounds",
             fmt::format("{}", schedule.warmup_rounds),
             fmt::format("at most schedule.total_rounds ({})", schedule.total_rounds));
}

void check_artefact(Checker& check, std::string_view field, const Artefact& artefact, int context) {
  check.that(!artefact.sha256.is_zero(), fmt::format("{}.sha256", field), "zero", "the digest of a file");
  check.within(fmt::format("{}.bytes", field), artefact.bytes, std::int64_t{context} + 1, kArtefactBytesMax);
}

void check_data(Checker& check, const RunManifest& manifest) {
  check_artefact(check, "data.train", manifest.data.train, manifest.model.context);
  check_artefact(check, "data.validation", manifest.data.validation, manifest.model.context);
  if (!check.status().ok()) return;
  // Lanes never meet as long as one lane alone can fill a round from its own samples.
  const std::int64_t per_lane = sample_space(manifest.data.train.bytes, manifest.model.context) / manifest.peers_max;
  const SampleCount needed = manifest.target_batch_size + manifest.micro_batch_size;
  check.that(per_lane >= needed, "data.train.bytes", fmt::format("{}", manifest.data.train.bytes),
             fmt::format("at least {}, or peers_max ({}) or target_batch_size ({}) smaller",
                         needed * manifest.peers_max + manifest.model.context, manifest.peers_max,
                         manifest.target_batch_size));
  check.within("flops_per_sample", manifest.flops_per_sample, 1, kFlopsMax);
}

void check_codecs(Checker& check, const RunManifest& manifest) {
  const Result<Codec> results = codec_from_name(manifest.codec);
  check.that(results.ok() && carries_results(*results), "codec", fmt::format("'{}'", manifest.codec),
             fmt::format("one of {}, but not sparse", codec_names()));
  check.within("error_feedback", manifest.error_feedback, 0, 1);
  check.within("low_rank", manifest.low_rank, 0, kLowRankMax);
  check.that(manifest.low_rank == 0 || manifest.contribution_codec.empty(), "contribution_codec",
             fmt::format("'{}'", manifest.contribution_codec), "empty where low_rank is not 0");
  if (check.status().ok() && manifest.low_rank > 0) {
    check.that(!low_rank_layout(model_layout(manifest.model), manifest.low_rank).matrices.empty(), "low_rank",
               fmt::format("{}", manifest.low_rank), "0, or fewer: no matrix of this model gains from so many factors");
  }
  if (manifest.contribution_codec.empty()) return;
  const Result<Codec> contributions = codec_from_name(manifest.contribution_codec);
  check.that(contributions.ok(), "contribution_codec", fmt::format("'{}'", manifest.contribution_codec),
             fmt::format("one of {}", codec_names()));
  const bool needs_feedback = contributions.ok() && !carries_results(*contributions);
  check.that(!needs_feedback || manifest.error_feedback > 0, "error_feedback", "0",
             fmt::format("above 0 (0.95, say) with {} contributions", manifest.contribution_codec));
}

void check_settings(Checker& check, const RunManifest& manifest) {
  check.within("version", manifest.version, kVersion, kVersion);
  check.that(is_run_id(manifest.run_id), "run_id", fmt::format("'{}'", manifest.run_id),
             "1 to 40 of a-z, 0-9 and hyphen");
  check.that(is_title(manifest.title), "title", "too long or has control characters",
             "at most 100 bytes of plain text");
  check.within("seed", manifest.seed, 0, std::numeric_limits<std::int64_t>::max());
  check_model(check, manifest.model);
  check_optimizer(check, manifest);
  check.within("target_batch_size", manifest.target_batch_size, 1, kBatchMax);
  check.within("micro_batch_size", manifest.micro_batch_size, 1, kMicroBatchMax);
  check.that(manifest.micro_batch_size <= manifest.target_batch_size, "micro_batch_size",
             fmt::format("{}", manifest.micro_batch_size),
             fmt::format("at most target_batch_size ({})", manifest.target_batch_size));
  check.within("rounds_max", manifest.rounds_max, 0, kRoundsMax);
  check.within("peers_max", manifest.peers_max, 1, kLanesMax);
  check.within("flops_per_sample", manifest.flops_per_sample, 0, kFlopsMax);
  check_codecs(check, manifest);
  const AveragingOptions& averaging = manifest.averaging;
  check.that(averaging.formation == "auto" || averaging.formation == "one-group" || averaging.formation == "grid",
             "averaging.formation", fmt::format("'{}'", averaging.formation), "'auto', 'one-group' or 'grid'");
  check.that(averaging.formation != "grid" || manifest.low_rank == 0, "averaging.formation", "'grid'",
             "'auto' or 'one-group' where low_rank is not 0: columns and their heads average vectors only once");
  if (averaging.group_size != 0) {
    check.within("averaging.group_size", averaging.group_size, kGroupSizeMin, static_cast<int>(kGroupMembersMax));
  }
  check.within("checkpoint_rounds", manifest.checkpoint_rounds, 0, kRoundsMax);
  check.that(is_version(manifest.client_min), "client_min", fmt::format("'{}'", manifest.client_min),
             "a version such as '0.1.0', or empty");
}

void write_artefact(JsonWriter& writer, std::string_view name, const Artefact& artefact) {
  writer.open(name, '{');
  writer.text("sha256", artefact.sha256.hex());
  writer.integer("bytes", artefact.bytes);
  writer.close('}');
}

void write_model(JsonWriter& writer, const ModelOptions& model) {
  writer.open("model", '{');
  writer.text("architecture", model.architecture);
  writer.integer("layers", model.layers);
  writer.integer("width", model.width);
  writer.integer("heads", model.heads);
  writer.integer("context", model.context);
  writer.integer("vocabulary", model.vocabulary);
  writer.close('}');
}

void write_setting(JsonWriter& writer, std::string_view name, double value) { writer.number(name, value); }
void write_setting(JsonWriter& writer, std::string_view name, std::int64_t value) { writer.integer(name, value); }
void write_setting(JsonWriter& writer, std::string_view name, int value) { writer.integer(name, value); }
void write_setting(JsonWriter& writer, std::string_view name, bool value) { writer.boolean(name, value); }

void write_optimizer(JsonWriter& writer, const OptimizerOptions& optimizer, const ScheduleOptions& schedule) {
  const auto writes = [&writer](std::string_view name, auto value, auto) { write_setting(writer, name, value); };
  writer.open("optimizer", '{');
  writer.text("kind", optimizer.kind);
  each_optimizer_setting(optimizer, writes);
  writer.close('}');
  writer.open("schedule", '{');
  // Left out where it changes nothing: manifests without it keep their bytes, and so their signatures.
  if (schedule.kind != ScheduleOptions{}.kind) writer.text("kind", schedule.kind);
  each_schedule_setting(schedule, writes);
  writer.close('}');
}

// Whatever the type holds is read; check_manifest judges it, with its own words.
void read_any(JsonReader& reader, std::string_view name, std::int64_t& out) {
  reader.integer(name, out, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}
void read_any(JsonReader& reader, std::string_view name, int& out) {
  read_int(reader, name, out, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
}
void read_any(JsonReader& reader, std::string_view name, double& out) {
  constexpr double kMost = std::numeric_limits<double>::max();
  reader.number(name, out, -kMost, kMost);
}

void read_any(JsonReader& reader, std::string_view name, bool& out) { reader.boolean(name, out); }

void read_artefact(JsonReader& reader, std::string_view name, Artefact& artefact) {
  reader.object(name, [&](JsonReader& fields) {
    read_id(fields, "sha256", artefact.sha256);
    read_any(fields, "bytes", artefact.bytes);
  });
}

void read_model(JsonReader& reader, ModelOptions& model) {
  reader.object("model", [&](JsonReader& fields) {
    fields.text("architecture", model.architecture, kWordBytesMax);
    read_any(fields, "layers", model.layers);
    read_any(fields, "width", model.width);
    read_any(fields, "heads", model.heads);
    read_any(fields, "context", model.context);
    read_any(fields, "vocabulary", model.vocabulary);
  });
}

void read_optimizer(JsonReader& reader, OptimizerOptions& optimizer, ScheduleOptions& schedule) {
  const auto reads_from = [](JsonReader& fields) {
    return [&fields](std::string_view name, auto& value, auto) { read_any(fields, name, value); };
  };
  reader.object("optimizer", [&](JsonReader& fields) {
    fields.text("kind", optimizer.kind, kWordBytesMax);
    each_optimizer_setting(optimizer, reads_from(fields));
  });
  reader.object("schedule", [&](JsonReader& fields) {
    if (fields.present("kind")) fields.text("kind", schedule.kind, kWordBytesMax);
    each_schedule_setting(schedule, reads_from(fields));
  });
}

void read_manifest(JsonReader& reader, RunManifest& manifest) {
  read_any(reader, "version", manifest.version);
  reader.text("run_id", manifest.run_id, kRunIdBytesMax);
  reader.text("title", manifest.title, kTitleBytesMax);
  std::int64_t seed = 0;
  reader.integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max());
  manifest.seed = static_cast<std::uint64_t>(seed);
  read_model(reader, manifest.model);
  reader.object("data", [&](JsonReader& fields) {
    read_artefact(fields, "train", manifest.data.train);
    read_artefact(fields, "validation", manifest.data.validation);
  });
  read_optimizer(reader, manifest.optimizer, manifest.schedule);
  read_any(reader, "target_batch_size", manifest.target_batch_size);
  read_any(reader, "micro_batch_size", manifest.micro_batch_size);
  read_any(reader, "rounds_max", manifest.rounds_max);
  read_any(reader, "peers_max", manifest.peers_max);
  read_any(reader, "flops_per_sample", manifest.flops_per_sample);
  reader.text("codec", manifest.codec, kWordBytesMax);
  if (reader.present("contribution_codec")) {
    reader.text("contribution_codec", manifest.contribution_codec, kWordBytesMax);
  }
  if (reader.present("error_feedback")) read_any(reader, "error_feedback", manifest.error_feedback);
  if (reader.present("low_rank")) read_any(reader, "low_rank", manifest.low_rank);
  if (reader.present("averaging")) {
    reader.object("averaging", [&](JsonReader& fields) {
      fields.text("formation", manifest.averaging.formation, kWordBytesMax);
      read_any(fields, "group_size", manifest.averaging.group_size);
    });
  }
  if (reader.present("checkpoint_rounds")) read_any(reader, "checkpoint_rounds", manifest.checkpoint_rounds);
  reader.text("client_min", manifest.client_min, kWordBytesMax);
}

}  // namespace

std::string encode_manifest(const RunManifest& manifest) {
  JsonWriter writer;
  writer.open("", '{');
  writer.integer("version", manifest.version);
  writer.text("run_id", manifest.run_id);
  writer.text("title", manifest.title);
  writer.integer("seed", static_cast<std::int64_t>(manifest.seed));
  write_model(writer, manifest.model);
  writer.open("data", '{');
  write_artefact(writer, "train", manifest.data.train);
  write_artefact(writer, "validation", manifest.data.validation);
  writer.close('}');
  write_optimizer(writer, manifest.optimizer, manifest.schedule);
  writer.integer("target_batch_size", manifest.target_batch_size);
  writer.integer("micro_batch_size", manifest.micro_batch_size);
  writer.integer("rounds_max", manifest.rounds_max);
  writer.integer("peers_max", manifest.peers_max);
  writer.number("flops_per_sample", manifest.flops_per_sample);
  writer.text("codec", manifest.codec);
  // Left out where they change nothing: manifests without them keep their bytes, and so their signatures.
  if (!manifest.contribution_codec.empty()) writer.text("contribution_codec", manifest.contribution_codec);
  if (manifest.error_feedback != 0) writer.number("error_feedback", manifest.error_feedback);
  if (manifest.low_rank != 0) writer.integer("low_rank", manifest.low_rank);
  if (const AveragingOptions& averaging = manifest.averaging; averaging != AveragingOptions{}) {
    writer.open("averaging", '{');
    writer.text("formation", averaging.formation);
    writer.integer("group_size", averaging.group_size);
    writer.close('}');
  }
  if (manifest.checkpoint_rounds != RunManifest{}.checkpoint_rounds) {
    writer.integer("checkpoint_rounds", manifest.checkpoint_rounds);
  }
  writer.text("client_min", manifest.client_min);
  writer.close('}');
  return std::move(writer.str());
}

Result<RunManifest> decode_manifest(std::string_view json) {
  STARLING_ASSIGN(RunManifest manifest,
                  decode_json<RunManifest>(json, "run manifest", kManifestBytesMax, read_manifest));
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
  check_data(check, manifest);
  return check.status();
}

}  // namespace starling::wire
