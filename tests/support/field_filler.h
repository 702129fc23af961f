// Messages with a value in every field, made from their own descriptions (shared/wire/fields.h): a field that is added
// to a description is in all tests and seeds that are made of filled messages.
#pragma once

#include <algorithm>
#include <string>

#include "shared/wire/fields.h"

namespace starling::testing {

// Sets every field it visits to a value that the field's reader accepts, each to another one where there are several.
class FieldFiller {
 public:
  static constexpr bool kChanges = true;

  template <typename T, typename... Rules>
  void operator()(std::string_view name, T& member, const Rules&... rules) {
    name_ = name;
    ++count_;
    fill(member, rules...);
  }
  [[nodiscard]] static bool has(std::string_view /*name*/, bool /*holds*/) { return true; }
  void refuse(std::string_view /*name*/, std::string_view /*why*/) {}

 private:
  void fill(bool& member, const auto&...) { member = true; }
  void fill(double& member, const wire::Real& range, const auto&...) {
    member = std::clamp(0.25 * count_, range.least, range.most);
  }
  template <wire::fields::Integer T>
  void fill(T& member, const wire::Whole& range, const auto&...) {
    member = static_cast<T>(std::clamp<std::int64_t>(count_, range.least, range.most));
  }
  void fill(std::string& member, const wire::Text& text, const auto&...) { member = name_.substr(0, text.bytes_max); }
  void fill(wire::fields::Id auto& member, const auto&...) { member.bytes.fill(static_cast<std::uint8_t>(count_)); }
  void fill(WordEnum auto& member, const auto&...) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(words_of(member).size() - 1);
  }
  template <typename T, typename... Rules>
  void fill(std::optional<T>& member, const Rules&... rules) {
    fill(member.emplace(), rules...);
  }
  template <typename T, typename... Rules>
  void fill(std::vector<T>& members, const wire::Items& /*items*/, const Rules&... rules) {
    members.resize(2);
    for (T& member : members) fill(member, rules...);
  }
  template <typename T, typename... Rules>
  void fill(std::vector<T>& members, const wire::FirstItems& items, const Rules&... rules) {
    fill(members, wire::Items{items.max}, rules...);
  }
  void fill(std::vector<float>& members, const wire::PackedFloats& /*packed*/, const auto&...) {
    members = {static_cast<float>(count_), -0.5F};
  }
  template <wire::fields::Object Message>
  void fill(Message& message, const auto&...) {
    each_field(*this, message);
  }

  std::string name_;
  int count_ = 0;
};

template <typename Message>
Message filled() {
  Message message;
  FieldFiller filler;
  each_field(filler, message);
  return message;
}

}  // namespace starling::testing
