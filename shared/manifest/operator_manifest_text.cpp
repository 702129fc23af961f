// A run's description as TOML.
#include <fmt/format.h>

#include <concepts>
#include <string>
#include <vector>

#include "shared/manifest/operator_manifest.h"

namespace starling::manifest {
namespace {

// A basic string: quotes, backslashes and control characters are escaped; other characters stand unchanged.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string as_toml(bool value) { return value ? "true" : "false"; }
std::string as_toml(const std::string& value) { return toml_string(value); }
std::string as_toml(std::integral auto value) { return fmt::format("{}", value); }
// The shortest text that parses to exactly this number.
std::string as_toml(double value) { return fmt::format("{}", value); }
std::string as_toml(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + toml_string(value);
  return "[" + list + "]";
}

class TomlWriter {
 public:
  template <typename Value>
  void set(std::string_view key, const Value& value) {
    text_ += fmt::format("{} = {}\n", key, as_toml(value));
  }
  void table(std::string_view name) { text_ += fmt::format("\n[{}]\n", name); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void write_settings(TomlWriter& out, const wire::RunManifest& manifest) {
  out.set("version", manifest.version);
  out.set("run_id", manifest.run_id);
  out.set("title", manifest.title);
  out.set("seed", manifest.seed);
  out.set("target_batch_size", manifest.target_batch_size);
  out.set("micro_batch_size", manifest.micro_batch_size);
  out.set("rounds_max", manifest.rounds_max);
  out.set("checkpoint_rounds", manifest.checkpoint_rounds);
  out.set("peers_max", manifest.peers_max);
  out.set("flops_per_sample", manifest.flops_per_sample);
  out.set("codec", manifest.codec);
  if (!manifest.contribution_codec.empty()) out.set("contribution_codec", manifest.contribution_codec);
  out.set("error_feedback", manifest.error_feedback);
  out.set("low_rank", manifest.low_rank);
  out.set("delay_parameter_updates", manifest.delay_parameter_updates);
  out.set("precision", manifest.precision);
  out.set("moments", manifest.moments);
  if (!manifest.client_min.empty()) out.set("client_min", manifest.client_min);
}

void write_data(TomlWriter& out, const OperatorManifest& wanted) {
  const wire::DataOptions& data = wanted.manifest.data;
  const ManifestSource& source = wanted.source;
  out.table("data");
  out.set("kind", data.kind);
  out.set("sampling", data.sampling);
  if (!source.shards.empty()) {
    out.set("shards", source.shards.string());
    out.set("mirrors", data.mirrors);
    if (!data.mirror_ca.empty()) out.set("mirror_ca", data.mirror_ca);
    out.set("shard_rounds", data.shard_rounds);
  } else if (source.validation.empty()) {
    out.set("train", source.train.string());
    out.set("validation_fraction", source.validation_fraction);
  } else {
    out.set("train", source.train.string());
    out.set("validation", source.validation.string());
  }
}

}  // namespace

std::string write_operator_manifest(const OperatorManifest& wanted) {
  const wire::RunManifest& manifest = wanted.manifest;
  TomlWriter out;
  write_settings(out, manifest);
  const auto set = [&out](std::string_view name, const auto& value, const auto&) { out.set(name, value); };
  out.table("model");
  out.set("architecture", manifest.model.architecture);
  wire::each_model_setting(manifest.model, set);
  if (manifest.model.architecture == "script") {
    out.set("program", wanted.source.program.string());
    out.set("parameters", wanted.source.parameters.string());
  }
  const auto write_steps = [&](const std::string& of, const wire::OptimizerOptions& optimizer,
                               const wire::ScheduleOptions& schedule) {
    out.table(of + "optimizer");
    out.set("kind", optimizer.kind);
    wire::each_optimizer_setting(optimizer, set);
    out.table(of + "schedule");
    out.set("kind", schedule.kind);
    wire::each_schedule_setting(schedule, set);
  };
  write_steps("", manifest.optimizer, manifest.schedule);
  if (manifest.local) {
    out.table("local");
    out.set("partners", manifest.local->partners);
    out.set("mix_every", manifest.local->mix_every);
    out.set("consensus_bound", manifest.local->consensus_bound);
    out.set("mixing_rate", manifest.local->mixing_rate);
    out.set("mixing_momentum", manifest.local->mixing_momentum);
    out.set("mixing_pull", manifest.local->mixing_pull);
    out.set("merge_alpha", manifest.local->merge_alpha);
    out.set("fragments", manifest.local->fragments);
    out.set("eager", manifest.local->eager);
    write_steps("local.", manifest.local->optimizer, manifest.local->schedule);
  }
  out.table("averaging");
  out.set("formation", manifest.averaging.formation);
  out.set("group_size", manifest.averaging.group_size);
  write_data(out, wanted);
  return out.take();
}

}  // namespace starling::manifest
