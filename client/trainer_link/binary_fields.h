// Messages as bytes, written and read by their descriptions (shared/wire/fields.h), for two processes of one build on
// one machine: the values stand one after the other, numbers in the machine's own byte order; names do not travel.
// Each message has exactly one form, so a message that was read is written to equal bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "shared/base/result.h"
#include "shared/wire/fields.h"

namespace starling::trainer_link {

// Appends the fields that it visits. A text that is longer than its limit is cut there.
class BinaryWriter {
 public:
  static constexpr bool kChanges = false;
  explicit BinaryWriter(std::string& out) : out_(out) {}

  template <typename T, typename... Rules>
  void operator()(std::string_view /*name*/, const T& member, const Rules&... rules) {
    put(member, rules...);
  }

 private:
  template <typename T>
  void put_number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(bool member) { put_number(static_cast<std::uint8_t>(member)); }
  void put(double member, const wire::Real& /*range*/) { put_number(member); }
  void put(wire::fields::Integer auto member, const wire::Whole& /*range*/) { put_number(member); }
  template <WordEnum T>
  void put(T member) {
    put_number(static_cast<std::underlying_type_t<T>>(member));
  }
  void put(const std::string& member, const wire::Text& text) {
    const std::string_view kept = std::string_view(member).substr(0, text.bytes_max);
    put_number(static_cast<std::uint32_t>(kept.size()));
    out_.append(kept);
  }
  template <typename T, typename... Rules>
  void put(const std::optional<T>& member, const Rules&... rules) {
    put(member.has_value());
    if (member.has_value()) put(*member, rules...);
  }

  std::string& out_;
};

// Reads the fields that it visits, strictly; those after the first error keep their values.
class BinaryReader {
 public:
  static constexpr bool kChanges = true;
  // `bytes` outlive the reader.
  explicit BinaryReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <typename T, typename... Rules>
  void operator()(std::string_view name, T& member, const Rules&... rules) {
    if (!status_.ok()) return;
    name_ = name;
    get(member, rules...);
  }
  // corrupt: a value is out of its range, or the bytes end before the fields do.
  [[nodiscard]] const Status& status() const { return status_; }
  // The bytes behind the fields so far.
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }

 private:
  void refuse(std::string_view why);
  // Returns the next bytes and passes them; null if there are fewer, which is an error.
  const std::uint8_t* take(std::size_t bytes);
  template <typename T>
  [[nodiscard]] std::optional<T> number() {
    const std::uint8_t* const bytes = take(sizeof(T));
    if (bytes == nullptr) return std::nullopt;
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  void get(bool& member);
  void get(double& member, const wire::Real& range);
  template <wire::fields::Integer T>
  void get(T& member, const wire::Whole& range) {
    const auto value = number<T>();
    if (!value) return;
    const auto whole = static_cast<std::int64_t>(*value);
    if (whole < range.least || whole > range.most) return refuse("is out of range");
    member = *value;
  }
  template <WordEnum T>
  void get(T& member) {
    const auto value = number<std::underlying_type_t<T>>();
    if (!value) return;
    if (*value >= words_of(member).size()) return refuse("is unknown");
    member = static_cast<T>(*value);
  }
  void get(std::string& member, const wire::Text& text);
  template <typename T, typename... Rules>
  void get(std::optional<T>& member, const Rules&... rules) {
    bool present = false;
    get(present);
    member.reset();
    if (present) get(member.emplace(), rules...);
  }

  std::span<const std::uint8_t> rest_;
  std::string_view name_;
  Status status_;
};

}  // namespace starling::trainer_link
