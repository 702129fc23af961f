#include "shared/wire/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace starling::wire {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
  } else {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

}  // namespace

void JsonWriter::start(std::string_view name) {
  if (!out_.empty() && out_.back() != '{' && out_.back() != '[') out_ += ',';
  if (name.empty()) return;
  append_escaped(out_, name);
  out_ += ':';
}

void JsonWriter::open(std::string_view name, char bracket) {
  start(name);
  out_ += bracket;
}

void JsonWriter::close(char bracket) { out_ += bracket; }

void JsonWriter::text(std::string_view name, std::string_view value) {
  start(name);
  append_escaped(out_, value);
}

void JsonWriter::integer(std::string_view name, std::int64_t value) {
  start(name);
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void JsonWriter::number(std::string_view name, double value) {
  start(name);
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out_), "{}", value);
  } else {
    out_ += "null";
  }
}

void JsonWriter::boolean(std::string_view name, bool value) {
  start(name);
  out_ += value ? "true" : "false";
}

void JsonWriter::raw(std::string_view name, std::string_view json) {
  start(name);
  out_ += json;
}

}  // namespace starling::wire
