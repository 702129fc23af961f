// JSON appended to one string, field by field, in the order of the calls. Commas are set, text is escaped
// (bytes that are not UTF-8 become U+FFFD), numbers are written so that they read back exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace starling::wire {

// An empty name writes a list item, or the outermost object.
class JsonWriter {
 public:
  void open(std::string_view name, char bracket);  // '{' or '['
  void close(char bracket);                        // '}' or ']'
  void text(std::string_view name, std::string_view value);
  void integer(std::string_view name, std::int64_t value);
  // A value that is not finite is written as null: JSON knows no other.
  void number(std::string_view name, double value);
  void boolean(std::string_view name, bool value);
  // `json` is a value, written by another JsonWriter.
  void raw(std::string_view name, std::string_view json);

  [[nodiscard]] std::string& str() { return out_; }

 private:
  void start(std::string_view name);
  std::string out_;
};

}  // namespace starling::wire
