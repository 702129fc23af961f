#include "shared/manifest/operator_manifest.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/version.h"
#include "shared/manifest/algorithms.h"
#include "shared/run/cells.h"
#include "shared/run/manifest_fields.h"
#include "shared/run/model_layout.h"

namespace starling::manifest {
namespace {

constexpr std::size_t kPathBytesMax = 4096;
constexpr double kFractionMax = 0.5;
constexpr std::string_view kAggregationSince = "0.1.0";      // the first version that knows averaging.aggregation
constexpr std::string_view kCellsSince = "0.1.0";            // the first version that knows cells
constexpr std::string_view kDecoderSince = "0.1.0";          // the first version that knows the model decoder
constexpr std::string_view kCheckPrefix = "run manifest: ";  // prefix of check_manifest_settings' messages

using Lines = std::map<std::string, std::uint32_t, std::less<>>;  // line of each key that was read, by dotted name

Error at_line(std::uint32_t line, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("manifest.toml, line {}: {}", line, why)};
}

// One table of the file (null: it is absent). Reading a key takes it out of the table; keys left at the end are
// unknown.
class TableReader {
 public:
  TableReader(toml::table* table, std::string prefix, Lines& lines)
      : table_(table), prefix_(std::move(prefix)), lines_(lines) {}

  template <typename Integer>
  void integer(std::string_view key, Integer& out) {
    const auto value = take<std::int64_t>(key, "a whole number");
    if (!value.has_value()) return;
    if (!std::in_range<Integer>(*value)) return fail(lines_[name_of(key)], key, "is out of range");
    out = static_cast<Integer>(*value);
  }
  void number(std::string_view key, double& out) {
    const toml::node* node = find(key);
    if (node != nullptr && node->is_integer()) {
      std::int64_t whole = 0;
      integer(key, whole);
      out = static_cast<double>(whole);
    } else if (const auto value = take<double>(key, "a number")) {
      out = *value;
    }
  }
  void text(std::string_view key, std::string& out) {
    if (auto value = take<std::string>(key, "text in quotes")) out = std::move(*value);
  }
  template <WordEnum Word>
  void word(std::string_view key, Word& out) {
    const auto text = take<std::string>(key, "text in quotes");
    if (!text) return;
    if (const auto known = from_word<Word>(*text)) {
      out = *known;
    } else {
      fail(lines_[name_of(key)], key, no_word(*text, allowed_words<Word>()));
    }
  }
  // Empty text stands for none.
  template <WordEnum Word>
  void word(std::string_view key, std::optional<Word>& out) {
    const auto text = take<std::string>(key, "text in quotes");
    if (!text) return;
    out = from_word<Word>(*text);
    if (out || text->empty()) return;
    fail(lines_[name_of(key)], key, no_word(*text, allowed_words<Word>() + ", or empty"));
  }
  void texts(std::string_view key, std::vector<std::string>& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const std::uint32_t line = lines_[name_of(key)] = node->source().begin.line;
    if (!node->is_array()) return fail(line, key, "must be a list of texts in quotes");
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_string()) return fail(line, key, "must be a list of texts in quotes");
      out.push_back(**item.as_string());
    }
    table_->erase(key);
  }
  void boolean(std::string_view key, bool& out) {
    if (const auto value = take<bool>(key, "true or false")) out = *value;
  }
  // The table of that name, empty if it is absent. Valid as long as this reader's own.
  TableReader table(std::string_view key) {
    toml::node* node = find(key);
    if (node == nullptr) return {nullptr, name_of(key) + ".", lines_};
    if (!node->is_table()) fail(node->source().begin.line, key, "must be a table");
    tables_.emplace_back(key);
    return {node->as_table(), name_of(key) + ".", lines_};
  }
  [[nodiscard]] bool there() const { return table_ != nullptr; }
  // Returns the first error. To be called after all known keys were read; the message says that the others are no keys
  // of `what`.
  [[nodiscard]] Status finish(std::string_view what = "a run manifest") {
    if (table_ == nullptr) return status_;
    for (const auto& [key, node] : *table_) {
      const bool known = std::find(tables_.begin(), tables_.end(), key.str()) != tables_.end();
      if (!known) fail(node.source().begin.line, key.str(), "is no key of " + std::string(what));
    }
    return status_;
  }

 private:
  template <typename T>
  std::optional<T> take(std::string_view key, std::string_view wanted) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    const std::uint32_t line = node->source().begin.line;
    lines_[name_of(key)] = line;
    std::optional<T> value = node->value_exact<T>();
    if (!value.has_value()) fail(line, key, "must be " + std::string(wanted));
    table_->erase(key);
    return value;
  }
  [[nodiscard]] toml::node* find(std::string_view key) const { return table_ == nullptr ? nullptr : table_->get(key); }
  void fail(std::uint32_t line, std::string_view key, std::string_view why) {
    if (status_.ok()) status_ = at_line(line, fmt::format("{} {}", name_of(key), why));
  }
  [[nodiscard]] std::string name_of(std::string_view key) const { return prefix_ + std::string(key); }

  toml::table* table_;
  std::vector<std::string> tables_;  // keys read by table()
  std::string prefix_;
  Lines& lines_;
  Status status_;
};

void read_setting(TableReader& fields, std::string_view name, double& value) { fields.number(name, value); }
void read_setting(TableReader& fields, std::string_view name, bool& value) { fields.boolean(name, value); }
void read_setting(TableReader& fields, std::string_view name, std::string& value) { fields.text(name, value); }
void read_setting(TableReader& fields, std::string_view name, WordEnum auto& value) { fields.word(name, value); }
template <WordEnum Word>
void read_setting(TableReader& fields, std::string_view name, std::optional<Word>& value) {
  fields.word(name, value);
}
void read_setting(TableReader& fields, std::string_view name, std::integral auto& value) {
  fields.integer(name, value);
}

// Visits a description of fields and reads those that stand in the table; objects are tables of their own.
class SettingReader {
 public:
  static constexpr bool kChanges = true;
  explicit SettingReader(TableReader& fields) : fields_(fields) {}

  template <typename T>
  void operator()([[maybe_unused]] std::string_view name, [[maybe_unused]] T& member, const auto&...) {
    if constexpr (requires { read_setting(fields_, name, member); }) read_setting(fields_, name, member);
  }
  [[nodiscard]] static bool has(std::string_view /*name*/, bool /*holds*/) { return true; }

 private:
  TableReader& fields_;
};

template <typename Options>
void read_settings(TableReader& fields, Options& options) {
  SettingReader reader(fields);
  each_field(reader, options);
}

Status read_model(TableReader fields, const std::filesystem::path& folder, OperatorManifest& out) {
  wire::ModelOptions& model = out.manifest.model;
  fields.word("architecture", model.architecture);
  wire::each_model_setting(
      model, [&fields](std::string_view name, auto& value, const auto&) { read_setting(fields, name, value); });
  std::string program, parameters;
  if (wire::has_program(model)) {
    fields.text("program", program);
    fields.text("parameters", parameters);
  }
  STARLING_TRY(fields.finish(fmt::format("model '{}'", word_of(model.architecture))));
  if (!wire::has_program(model)) return {};
  if (program.empty() || program.size() > kPathBytesMax || parameters.empty() || parameters.size() > kPathBytesMax) {
    return Error{ErrorCode::invalid_argument,
                 "manifest.toml, table [model]: a model of architecture script has program = \"FILE.pt\", which "
                 "torch.jit.save wrote, and parameters = \"FILE.safetensors\", with what they are at the start"};
  }
  out.source.program = folder / program;
  out.source.parameters = folder / parameters;
  return {};
}

Status read_optimizer(TableReader fields, wire::OptimizerOptions& optimizer) {
  const wire::OptimizerKind composed = optimizer.kind;
  fields.word("kind", optimizer.kind);
  if (optimizer.kind != composed) optimizer = wire::default_optimizer(optimizer.kind);
  wire::each_optimizer_setting(
      optimizer, [&fields](std::string_view name, auto& value, auto) { read_setting(fields, name, value); });
  return fields.finish(fmt::format("optimizer '{}'", word_of(optimizer.kind)));
}

Status read_schedule(TableReader fields, wire::ScheduleOptions& schedule) {
  fields.word("kind", schedule.kind);
  wire::each_schedule_setting(
      schedule, [&fields](std::string_view name, auto& value, auto) { read_setting(fields, name, value); });
  return fields.finish(fmt::format("schedule '{}'", word_of(schedule.kind)));
}

// Sets the parts of the algorithm that the file names.
Status read_algorithm(TableReader& fields, const Lines& lines, wire::RunManifest& manifest) {
  std::string name{algorithms().front().name};
  fields.text("algorithm", name);
  const Algorithm* const algorithm = find_algorithm(name);
  if (algorithm == nullptr) {
    return at_line(lines.at("algorithm"),
                   fmt::format("algorithm is '{}'; it must be one of {}", name, algorithm_names()));
  }
  algorithm->compose(manifest);
  return {};
}

// If the file names no algorithm, the table alone makes it a run of local steps.
Status read_local(TableReader fields, bool named, std::optional<wire::LocalOptions>& local) {
  if (!local && fields.there() && !named) local.emplace();
  if (!local && fields.there()) {
    return Error{
        ErrorCode::invalid_argument,
        "manifest.toml, table [local]: the algorithm that this file names averages gradients and takes no steps in "
        "between: name another one, or none"};
  }
  if (!local) return {};
  read_settings(fields, *local);
  STARLING_TRY(read_optimizer(fields.table("optimizer"), local->optimizer));
  STARLING_TRY(read_schedule(fields.table("schedule"), local->schedule));
  return fields.finish();
}

Status read_cells(TableReader fields, wire::CellOptions& cells) {
  if (!fields.there()) return {};
  read_settings(fields, cells);
  STARLING_TRY(fields.finish());
  if (cells.experts > 0) return {};
  return Error{ErrorCode::invalid_argument,
               "manifest.toml, table [cells]: experts_per_cell is missing, or not above 0"};
}

Status read_averaging(TableReader fields, wire::AveragingOptions& averaging) {
  read_settings(fields, averaging);
  return fields.finish();
}

Error bad_data(std::string_view why) {
  return {ErrorCode::invalid_argument, "manifest.toml, table [data]: " + std::string(why)};
}

// Checks data files that every volunteer has whole.
Status check_whole_files(wire::DataKind kind, const std::string& train, const std::string& validation,
                         double validation_fraction) {
  if (train.empty()) return bad_data("train = \"file\" is missing");
  if (train.size() > kPathBytesMax || validation.size() > kPathBytesMax) return bad_data("a path is too long");
  if (validation.empty() == (validation_fraction == 0)) {
    return bad_data("give either validation = \"file\" or validation_fraction (a share of train, such as 0.05)");
  }
  if (validation.empty() && kind != wire::DataKind::bytes) {
    return bad_data("validation = \"file\" is missing: only a text of bytes can be cut in two");
  }
  const bool fraction_fits = validation_fraction > 0 && validation_fraction <= kFractionMax;
  if (validation.empty() && !fraction_fits) return bad_data("validation_fraction must be above 0 and at most 0.5");
  return {};
}

Status read_data(TableReader fields, const std::filesystem::path& folder, OperatorManifest& out) {
  ManifestSource& source = out.source;
  wire::DataOptions& data = out.manifest.data;
  std::string shards;
  std::string train;
  std::string validation;
  fields.word("kind", data.kind);
  fields.text("shards", shards);
  fields.texts("mirrors", data.mirrors);
  fields.text("mirror_ca", data.mirror_ca);
  fields.integer("shard_rounds", data.shard_rounds);
  fields.word("sampling", data.sampling);
  fields.text("train", train);
  fields.text("validation", validation);
  fields.number("validation_fraction", source.validation_fraction);
  STARLING_TRY(fields.finish());
  if (!shards.empty()) {
    const bool whole = !train.empty() || !validation.empty() || source.validation_fraction != 0;
    if (whole) return bad_data("shards = \"file\" stands alone: the listing names what is held out, too");
    if (shards.size() > kPathBytesMax) return bad_data("a path is too long");
    source.shards = folder / shards;
    return {};
  }
  const wire::DataOptions plain;
  if (!data.mirrors.empty() || !data.mirror_ca.empty() || data.shard_rounds != plain.shard_rounds) {
    return bad_data("mirrors, mirror_ca and shard_rounds are for data in shards");
  }
  STARLING_TRY(check_whole_files(data.kind, train, validation, source.validation_fraction));
  source.train = folder / train;
  if (!validation.empty()) source.validation = folder / validation;
  return {};
}

Status read_all(TableReader& fields, const Lines& lines, const std::filesystem::path& folder, OperatorManifest& out) {
  wire::RunManifest& manifest = out.manifest;
  STARLING_TRY(read_algorithm(fields, lines, manifest));
  read_settings(fields, manifest);
  STARLING_TRY(read_model(fields.table("model"), folder, out));
  STARLING_TRY(read_optimizer(fields.table("optimizer"), manifest.optimizer));
  STARLING_TRY(read_schedule(fields.table("schedule"), manifest.schedule));
  STARLING_TRY(read_local(fields.table("local"), lines.contains("algorithm"), manifest.local));
  STARLING_TRY(read_cells(fields.table("cells"), manifest.model.experts.cells));
  STARLING_TRY(read_averaging(fields.table("averaging"), manifest.round.averaging));
  STARLING_TRY(read_data(fields.table("data"), folder, out));
  return fields.finish();
}

// The range check's message, with the line of the field that it names.
Error with_line(const Error& error, const Lines& lines) {
  std::string_view message = error.message;
  if (message.starts_with(kCheckPrefix)) message.remove_prefix(kCheckPrefix.size());
  const auto line = lines.find(message.substr(0, message.find(' ')));
  if (line == lines.end()) return {error.code, "manifest.toml: " + std::string(message)};
  return at_line(line->second, message);
}

// Checks that the operator gave the costs of a script model, which the program cannot compute.
Status check_costs(const wire::RunManifest& manifest) {
  const auto missing = [](std::string_view key, std::string_view what) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("manifest.toml: {} is missing: nobody knows what a sample of a model of your own costs, and "
                    "{}; `starling-trainer --count FILE.pt …` counts it",
                    key, what)};
  };
  if (manifest.flops_per_sample == 0) return missing("flops_per_sample", "it sets the credit");
  if (manifest.model.script.activation_bytes == 0) {
    return missing("model.activation_bytes", "computers with too little memory decline");
  }
  return {};
}

}  // namespace

Result<OperatorManifest> read_operator_manifest(std::string_view toml, const std::filesystem::path& folder) {
  if (toml.size() > kOperatorManifestBytesMax) {
    return Error{ErrorCode::invalid_argument, "manifest.toml: it is longer than 64 KiB"};
  }
  OperatorManifest out;
  Lines lines;
  try {
    toml::table root = toml::parse(toml);
    TableReader fields(&root, "", lines);
    STARLING_TRY(read_all(fields, lines, folder, out));
  } catch (const toml::parse_error& error) {
    return at_line(error.source().begin.line, error.description());
  }
  if (const Status status = wire::check_manifest_settings(out.manifest); !status.ok()) {
    return with_line(status.error(), lines);
  }
  const auto needs = [&client_min = out.manifest.client_min](bool used, std::string_view since) {
    if (used && compare_versions(client_min, since) < 0) client_min = since;
  };
  needs(out.manifest.round.averaging.aggregation != wire::Aggregation::clipped, kAggregationSince);
  needs(out.manifest.model.architecture == wire::Architecture::decoder, kDecoderSince);
  needs(wire::has_cells(out.manifest.model), kCellsSince);
  if (wire::has_program(out.manifest.model)) STARLING_TRY(check_costs(out.manifest));
  if (out.manifest.flops_per_sample == 0) {
    out.manifest.flops_per_sample = wire::flops_per_sample(out.manifest.model);
  }
  return out;
}

}  // namespace starling::manifest
