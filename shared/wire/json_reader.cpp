#include "shared/wire/json_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "shared/base/plain_text.h"

namespace starling::wire {

using nlohmann::json;

struct JsonDocument::Tree {
  json root;
  std::string error;  // the first; empty while there is none
};

namespace {

const json& as_json(const void* node) { return *static_cast<const json*>(node); }

}  // namespace

JsonDocument::JsonDocument(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
JsonDocument::JsonDocument(JsonDocument&& other) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&& other) noexcept = default;
JsonDocument::~JsonDocument() = default;

Result<JsonDocument> JsonDocument::parse(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return Error{ErrorCode::resource_exhausted, fmt::format("{} bytes of JSON; at most {}", text.size(), bytes_max)};
  }
  auto tree = std::make_unique<Tree>();
  tree->root = json::parse(text, nullptr, false);
  if (tree->root.is_discarded()) return Error{ErrorCode::corrupt, "not JSON, or a number beyond all range"};
  if (!tree->root.is_object()) return Error{ErrorCode::corrupt, "JSON, but not an object"};
  return JsonDocument(std::move(tree));
}

JsonReader JsonDocument::root() const { return {*tree_, &tree_->root}; }

void JsonReader::integer(std::string_view name, std::int64_t& out, std::int64_t min, std::int64_t max) {
  const void* node = find(name);
  if (node == nullptr) return;
  const json& value = as_json(node);
  // An unsigned beyond int64 would wrap, and no limit here is that large.
  const bool whole = value.is_number_integer() && !(value.is_number_unsigned() &&
                                                    value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
  if (!whole || value.get<std::int64_t>() < min || value.get<std::int64_t>() > max) {
    return refuse(name, fmt::format("must be a whole number from {} to {}", min, max));
  }
  out = value.get<std::int64_t>();
}

void JsonReader::number(std::string_view name, double& out, double min, double max) {
  const void* node = find(name);
  if (node == nullptr) return;
  const json& value = as_json(node);
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!std::isfinite(number) || number < min || number > max) {
    return refuse(name, fmt::format("must be a number from {} to {}", min, max));
  }
  out = number;
}

void JsonReader::boolean(std::string_view name, bool& out) {
  const void* node = find(name);
  if (node == nullptr) return;
  if (!as_json(node).is_boolean()) return refuse(name, "must be true or false");
  out = as_json(node).get<bool>();
}

void JsonReader::text(std::string_view name, std::string& out, std::size_t bytes_max, TextForm form) {
  const void* node = find(name);
  if (node == nullptr) return;
  const auto* value = as_json(node).get_ptr<const std::string*>();
  if (value == nullptr || value->size() > bytes_max) {
    return refuse(name, fmt::format("must be text of at most {} bytes", bytes_max));
  }
  out = form == TextForm::exact ? *value : form == TextForm::lines ? plain_lines(*value) : plain_line(*value);
}

void JsonReader::object(std::string_view name, const std::function<void(JsonReader&)>& read) {
  const void* node = find(name);
  if (node == nullptr) return;
  if (!as_json(node).is_object()) return refuse(name, "must be an object");
  JsonReader reader = child(node, name, -1);
  read(reader);
}

void JsonReader::list(std::string_view name, std::size_t items_max, const std::function<void(JsonReader&)>& read_item) {
  const void* node = find(name);
  if (node == nullptr) return;
  const json& items = as_json(node);
  if (!items.is_array() || items.size() > items_max) {
    return refuse(name, fmt::format("must be a list of at most {} items", items_max));
  }
  for (std::size_t i = 0; i < items.size() && tree_->error.empty(); ++i) {
    JsonReader reader = child(&items[i], name, static_cast<int>(i));
    read_item(reader);
  }
}

void JsonReader::fields(std::size_t fields_max,
                        const std::function<void(std::string_view name, JsonReader&)>& read_field) {
  const json& here = as_json(node_);
  if (!here.is_object() || here.size() > fields_max) {
    return refuse("", fmt::format("must be an object of at most {} fields", fields_max));
  }
  for (auto field = here.begin(); field != here.end() && tree_->error.empty(); ++field) {
    if (!field->is_object()) return refuse(field.key(), "must be an object");
    JsonReader reader = child(&*field, field.key(), -1);
    read_field(field.key(), reader);
  }
}

bool JsonReader::present(std::string_view name) const {
  const json& here = as_json(node_);
  if (!here.is_object()) return false;
  const auto field = here.find(name);
  return field != here.end() && !field->is_null();
}

void JsonReader::refuse(std::string_view name, std::string_view why) {
  if (tree_->error.empty()) tree_->error = plain_line(fmt::format("'{}': {}", place(name), why));
}

Status JsonReader::status() const {
  if (tree_->error.empty()) return {};
  return Error{ErrorCode::invalid_argument, tree_->error};
}

const void* JsonReader::find(std::string_view name) {
  if (!tree_->error.empty()) return nullptr;
  if (name.empty()) return node_;
  const json& here = as_json(node_);
  if (here.is_object()) {
    if (const auto field = here.find(name); field != here.end()) return &*field;
  }
  refuse(name, "is missing");
  return nullptr;
}

JsonReader JsonReader::child(const void* node, std::string_view name, int index) const {
  JsonReader reader(*tree_, node);
  reader.parent_ = this;
  reader.name_ = name;
  reader.index_ = index;
  return reader;
}

std::string JsonReader::place(std::string_view name) const {
  std::string path = parent_ == nullptr ? "" : parent_->place(name_);
  if (index_ >= 0) path += fmt::format("[{}]", index_);
  if (!path.empty() && !name.empty()) path += '.';
  return path + std::string(name);
}

}  // namespace starling::wire
