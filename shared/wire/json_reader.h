// JSON from outside, read field by field within named bounds. The first error is kept, with the place of
// the field ("reports[2].samples"), and everything after it is skipped: callers read all fields, then ask
// status() once. Fields that nobody reads are ignored. Text comes out plain (shared/base/plain_text.h), whoever wrote
// it, and so do the names of fields in errors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::wire {

class JsonReader;

// How much of a text is kept: one plain line; plain lines; or every byte, for what is signed, hashed, secret or data
// and not for people.
enum class TextForm : std::uint8_t { line, lines, exact };

// A parsed text. Readers point into it, so it must outlive them.
class JsonDocument {
 public:
  // corrupt for anything but one JSON object (numbers must fit a double or a 64-bit integer);
  // resource_exhausted beyond bytes_max.
  static Result<JsonDocument> parse(std::string_view json, std::size_t bytes_max);
  JsonDocument(JsonDocument&& other) noexcept;
  JsonDocument& operator=(JsonDocument&& other) noexcept;
  ~JsonDocument();
  // Refers to this document, which must outlive it.
  [[nodiscard]] JsonReader root() const;

 private:
  friend class JsonReader;
  struct Tree;
  explicit JsonDocument(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

// One object of a document, or one item of a list. An empty name means the item itself.
class JsonReader {
 public:
  void integer(std::string_view name, std::int64_t& out, std::int64_t min, std::int64_t max);
  void number(std::string_view name, double& out, double min, double max);
  void boolean(std::string_view name, bool& out);
  void text(std::string_view name, std::string& out, std::size_t bytes_max, TextForm form = TextForm::line);
  // Calls `read` with the object. A missing object is an error; see present().
  void object(std::string_view name, const std::function<void(JsonReader&)>& read);
  void list(std::string_view name, std::size_t items_max, const std::function<void(JsonReader&)>& read_item);
  // Calls `read_field` with each field's name and a reader of its object, in the order of the names.
  void fields(std::size_t fields_max, const std::function<void(std::string_view name, JsonReader&)>& read_field);
  // True if the field is present and not null.
  [[nodiscard]] bool present(std::string_view name) const;
  // Notes that the field's value will not do: "<place>: <why>".
  void refuse(std::string_view name, std::string_view why);

  [[nodiscard]] Status status() const;

 private:
  friend class JsonDocument;
  JsonReader(JsonDocument::Tree& tree, const void* node) : tree_(&tree), node_(node) {}
  // The field's node; null, with the error noted, when it is missing or an error was noted before.
  const void* find(std::string_view name);
  [[nodiscard]] JsonReader child(const void* node, std::string_view name, int index) const;
  [[nodiscard]] std::string place(std::string_view name) const;

  JsonDocument::Tree* tree_;
  const void* node_;
  const JsonReader* parent_ = nullptr;
  std::string_view name_;
  int index_ = -1;  // the place in a list; -1: none
};

// An id in lower-case hex. Zero is allowed: it means "none" where a field may be empty.
template <typename Id>
void read_id(JsonReader& reader, std::string_view name, Id& out) {
  std::string hex;
  reader.text(name, hex, 2 * Id::kSize);
  if (!reader.status().ok()) return;
  if (auto id = Id::from_hex(hex); id.ok()) {
    out = *id;
  } else {
    reader.refuse(name, id.error().message);
  }
}

// An integer that fits an int.
inline void read_int(JsonReader& reader, std::string_view name, int& out, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  reader.integer(name, value, min, max);
  out = static_cast<int>(value);
}

// Parses, reads with `read`, and returns the message or the first error under the name `what`.
template <typename Message, typename Read>
Result<Message> decode_json(std::string_view json, std::string_view what, std::size_t bytes_max, const Read& read) {
  auto document = JsonDocument::parse(json, bytes_max);
  if (!document.ok()) return document.error().prefixed(what);
  Message message;
  JsonReader reader = document->root();
  read(reader, message);
  if (Status status = reader.status(); !status.ok()) return status.error().prefixed(what);
  return message;
}

}  // namespace starling::wire
