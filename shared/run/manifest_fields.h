// Fields of a manifest's JSON, for the .cpp files that write and read it.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "shared/run/data_options.h"
#include "shared/run/model_options.h"
#include "shared/wire/checker.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {

constexpr std::size_t kWordBytesMax = 32;  // architecture, optimizer, codec, version
constexpr std::int64_t kArtefactBytesMax = std::int64_t{1} << 40;

inline void write_setting(JsonWriter& writer, std::string_view name, double value) { writer.number(name, value); }
inline void write_setting(JsonWriter& writer, std::string_view name, std::int64_t value) {
  writer.integer(name, value);
}
inline void write_setting(JsonWriter& writer, std::string_view name, int value) { writer.integer(name, value); }
inline void write_setting(JsonWriter& writer, std::string_view name, bool value) { writer.boolean(name, value); }

inline void write_setting(JsonWriter& writer, std::string_view name, const std::string& value) {
  writer.text(name, value);
}

// Reads any value that the type holds; check_manifest judges it, with its own words.
inline void read_any(JsonReader& reader, std::string_view name, std::int64_t& out) {
  reader.integer(name, out, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}
inline void read_any(JsonReader& reader, std::string_view name, int& out) {
  read_int(reader, name, out, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
}
inline void read_any(JsonReader& reader, std::string_view name, double& out) {
  constexpr double kMost = std::numeric_limits<double>::max();
  reader.number(name, out, -kMost, kMost);
}

inline void read_any(JsonReader& reader, std::string_view name, bool& out) { reader.boolean(name, out); }
inline void read_any(JsonReader& reader, std::string_view name, std::string& out) {
  reader.text(name, out, kWordBytesMax);
}

inline void write_artefact(JsonWriter& writer, std::string_view name, const Artefact& artefact) {
  writer.open(name, '{');
  writer.text("sha256", artefact.sha256.hex());
  writer.integer("bytes", artefact.bytes);
  writer.close('}');
}

inline void read_artefact(JsonReader& reader, std::string_view name, Artefact& artefact) {
  reader.object(name, [&](JsonReader& fields) {
    read_id(fields, "sha256", artefact.sha256);
    read_any(fields, "bytes", artefact.bytes);
  });
}

inline void check_artefact(Checker& check, std::string_view field, const Artefact& artefact) {
  check.that(!artefact.sha256.is_zero(), std::string(field) + ".sha256", "zero", "the digest of a file");
  check.within(std::string(field) + ".bytes", artefact.bytes, 1, kArtefactBytesMax);
}

// The table `model`, where it is a script.
void check_script(Checker& check, const ScriptModel& script);
void write_script(JsonWriter& writer, const ScriptModel& script);
void read_script(JsonReader& reader, ScriptModel& script);

// The table `model`.
void check_model(Checker& check, const ModelOptions& model);
void write_model(JsonWriter& writer, const ModelOptions& model);
void read_model(JsonReader& reader, ModelOptions& model);

// The table `data`. `least`: tokens or samples that each of its files has at least.
void check_data_files(Checker& check, const DataOptions& data, std::int64_t least);
void write_data(JsonWriter& writer, const DataOptions& data);
void read_data(JsonReader& reader, DataOptions& data);

}  // namespace starling::wire
