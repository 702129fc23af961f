// A run's description as TOML.
#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "shared/manifest/operator_manifest.h"
#include "shared/run/cells.h"
#include "shared/run/manifest_fields.h"

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
std::string as_toml(WordEnum auto value) { return toml_string(word_of(value)); }
template <WordEnum Word>
std::string as_toml(const std::optional<Word>& value) {
  return toml_string(value ? word_of(*value) : "");
}
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

// Visits a description of fields and writes each setting; objects are tables of their own.
class SettingWriter {
 public:
  static constexpr bool kChanges = false;
  explicit SettingWriter(TomlWriter& out) : out_(out) {}

  template <typename T>
  void operator()([[maybe_unused]] std::string_view name, [[maybe_unused]] const T& member, const auto&...) {
    if constexpr (requires { as_toml(member); }) out_.set(name, member);
  }
  [[nodiscard]] static bool has(std::string_view /*name*/, bool /*holds*/) { return true; }

 private:
  TomlWriter& out_;
};

template <typename Options>
void write_settings(TomlWriter& out, const Options& options) {
  SettingWriter writer(out);
  each_field(writer, options);
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
  if (wire::has_program(manifest.model)) {
    out.set("program", wanted.source.program.string());
    out.set("parameters", wanted.source.parameters.string());
  }
  if (wire::has_cells(manifest.model)) {
    out.table("cells");
    write_settings(out, manifest.model.experts.cells);
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
    write_settings(out, *manifest.local);
    write_steps("local.", manifest.local->optimizer, manifest.local->schedule);
  }
  out.table("averaging");
  write_settings(out, manifest.round.averaging);
  write_data(out, wanted);
  return out.take();
}

}  // namespace starling::manifest
