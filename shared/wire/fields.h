// One description of a message's fields, from which its JSON text is written and read:
//
//   template <typename Visitor>
//   void each_field(Visitor& visit, Seen<Visitor, RenewRequest>& message) {
//     visit("csr_pem", message.csr_pem, Text{kPemBytesMax, TextForm::exact});
//     visit("device_token", message.device_token, Text{kTokenBytesMax}, kLeftOutIfUnset);
//   }
//
// Fields are visited in the order of the text. Members that are objects have descriptions of their own; lists name
// their Items, then the rules of an item; enums have words (words.h). A member that is a std::optional is written if it
// has a value. Descriptions stand in headers *_fields.h, which only .cpp files include.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/base/words.h"
#include "shared/wire/base64.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {

// The message as a visitor sees it: one that only looks gets it const.
template <typename Visitor, typename Message>
using Seen = std::conditional_t<Visitor::kChanges, Message, const Message>;

// The values that a reader accepts; both ends of a range are included.
struct Whole {
  std::int64_t least;
  std::int64_t most;
};
// Limits of a number, both included.
struct Real {
  double least;
  double most;
};
// A limit for strings, in bytes of UTF-8, and what a reader keeps of them.
struct Text {
  std::size_t bytes_max;
  TextForm form = TextForm::line;
};
// A limit for lists.
struct Items {
  std::size_t max;
};
// Like Items; the writer leaves out the items beyond `max`, and those with which its whole text would be longer than
// `text_bytes_max`.
struct FirstItems {
  std::size_t max;
  std::size_t text_bytes_max = std::numeric_limits<std::size_t>::max();
};
// Finite floats, as one base64 text of their little-endian bytes; a limit for their number.
struct PackedFloats {
  std::size_t max;
};
// An id that stands in an object of its own, under this name.
struct InObject {
  std::string_view name;
};
// Any value of the number's type: the message's own checks judge it.
struct Any {};
constexpr Any kAny;
constexpr Whole kPort{0, 65535};

// A field without one of the following rules is always written and must be there.
// Always written, but older programs leave it out; then the member keeps its value.
struct Later {};
constexpr Later kLater;
// Left out where the member has this value; where the field is missing, the member keeps its value.
template <typename Value>
struct LeftOut {
  Value value;
};
template <typename Value>
constexpr LeftOut<Value> left_out_if(Value value) {
  return {std::move(value)};
}
// Left out where the member is false, zero, empty or the first of its enum's words.
struct LeftOutIfUnset {};
constexpr LeftOutIfUnset kLeftOutIfUnset;
// A std::optional that is written as null while it has no value.
struct NullIfUnset {};
constexpr NullIfUnset kNullIfUnset;

namespace fields {

// True for FixedId, whatever its tag and length.
template <typename T>
struct IsId : std::false_type {};
// A FixedId is one.
template <typename Tag, std::size_t N>
struct IsId<FixedId<Tag, N>> : std::true_type {};

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept Id = IsId<T>::value;
template <typename T>
concept Object = std::is_class_v<T> && !Id<T> && !requires(T member) {
  member.empty();
}
&&!requires(T member) { member.has_value(); };

constexpr bool is_left_out(const auto&, const auto&) { return false; }
template <typename T, typename Value>
bool is_left_out(const T& member, const LeftOut<Value>& rule) {
  return member == static_cast<T>(rule.value);
}
template <typename T>
bool is_left_out(const T& member, const LeftOutIfUnset&) {
  if constexpr (requires { member.empty(); }) {
    return member.empty();
  } else {
    return member == T{};
  }
}

// Rules that say themselves whether, and where, a field is left out: those of a manifest's settings.
template <typename Rule>
concept Setting = requires(const Rule& rule) {
  rule.left_out.has_value();
};
template <typename T, Setting Rule>
bool is_left_out(const T& member, const Rule& rule) {
  return rule.left_out == member;
}

template <typename Rule>
constexpr bool may_miss(const Rule& /*rule*/) {
  return std::same_as<Rule, Later> || std::same_as<Rule, LeftOutIfUnset>;
}
template <typename Value>
constexpr bool may_miss(const LeftOut<Value>& /*rule*/) {
  return true;
}
template <Setting Rule>
bool may_miss(const Rule& rule) {
  return rule.left_out.has_value();
}

constexpr std::size_t kEnumWordBytesMax = 32;

}  // namespace fields

// Writes the members of a message into a JSON object that is open.
class FieldWriter {
 public:
  static constexpr bool kChanges = false;
  explicit FieldWriter(JsonWriter& out) : out_(out) {}

  template <typename T, typename... Rules>
  void operator()(std::string_view name, const T& member, const Rules&... rules) {
    if (!(fields::is_left_out(member, rules) || ...)) put(name, member, rules...);
  }
  // For fields that only come under a condition: `holds` is what it is for a writer; a reader goes by a field's name.
  [[nodiscard]] static bool has(std::string_view /*name*/, bool holds) { return holds; }

 private:
  void put(std::string_view name, bool member, const auto&...) { out_.boolean(name, member); }
  void put(std::string_view name, double member, const auto&...) { out_.number(name, member); }
  void put(std::string_view name, fields::Integer auto member, const auto&...) {
    out_.integer(name, static_cast<std::int64_t>(member));
  }
  void put(std::string_view name, const std::string& member, const auto&...) { out_.text(name, member); }
  void put(std::string_view name, const fields::Id auto& member, const auto&...) { out_.text(name, member.hex()); }
  void put(std::string_view name, const fields::Id auto& member, const Items&, const InObject& in) {
    out_.open(name, '{');
    out_.text(in.name, member.hex());
    out_.close('}');
  }
  void put(std::string_view name, WordEnum auto member, const auto&...) { out_.text(name, word_of(member)); }
  template <typename T, typename... Rules>
  void put(std::string_view name, const std::optional<T>& member, const Rules&... rules) {
    if (member.has_value()) return put(name, *member, rules...);
    if ((std::same_as<Rules, NullIfUnset> || ...)) out_.raw(name, "null");
  }
  template <typename T, typename... Rules>
  void put(std::string_view name, const std::vector<T>& members, const Rules&... rules) {
    out_.open(name, '[');
    for (const T& member : members) put("", member, rules...);
    out_.close(']');
  }
  template <typename T, typename... Rules>
  void put(std::string_view name, const std::vector<T>& members, const FirstItems& first, const Rules&... rules) {
    out_.open(name, '[');
    for (std::size_t i = 0; i < std::min(members.size(), first.max); ++i) {
      const std::size_t before = out_.str().size();
      put("", members[i], rules...);
      const std::size_t closing = i > 0 ? 7 : 8;  // room for brackets; a comma is counted already
      if (out_.str().size() + closing <= first.text_bytes_max) continue;
      out_.str().resize(before);
      break;
    }
    out_.close(']');
  }
  void put(std::string_view name, const std::vector<float>& members, const PackedFloats&, const auto&...) {
    out_.text(name, base64_of_floats(members));
  }
  template <fields::Object Message>
  void put(std::string_view name, const Message& message, const auto&...) {
    out_.open(name, '{');
    each_field(*this, message);
    out_.close('}');
  }

  JsonWriter& out_;
};

// Reads the members of a message from a JSON object, strictly: the reader's status has the first error.
class FieldReader {
 public:
  static constexpr bool kChanges = true;
  explicit FieldReader(JsonReader& in) : in_(in) {}

  template <typename T, typename... Rules>
  void operator()(std::string_view name, T& member, const Rules&... rules) {
    if ((fields::may_miss(rules) || ...) && !in_.present(name)) return;
    get(in_, name, member, rules...);
  }
  [[nodiscard]] bool has(std::string_view name, bool /*holds*/) const { return in_.present(name); }
  // Notes that the field's value will not do.
  void refuse(std::string_view name, std::string_view why) { in_.refuse(name, why); }

 private:
  static void get(JsonReader& in, std::string_view name, bool& member, const auto&...) { in.boolean(name, member); }
  static void get(JsonReader& in, std::string_view name, double& member, const Real& range, const auto&...) {
    in.number(name, member, range.least, range.most);
  }
  template <fields::Integer T>
  static void get(JsonReader& in, std::string_view name, T& member, const Whole& range, const auto&...) {
    auto value = static_cast<std::int64_t>(member);
    in.integer(name, value, range.least, range.most);
    member = static_cast<T>(value);
  }
  static void get(JsonReader& in, std::string_view name, double& member, const Any& /*any*/, const auto&...) {
    in.number(name, member, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
  }
  template <fields::Integer T>
  static void get(JsonReader& in, std::string_view name, T& member, const Any& /*any*/, const auto&...) {
    constexpr std::uint64_t kMost = std::min<std::uint64_t>(std::numeric_limits<T>::max(), INT64_MAX);
    get(in, name, member, Whole{std::numeric_limits<T>::min(), static_cast<std::int64_t>(kMost)});
  }
  static void get(JsonReader& in, std::string_view name, std::string& member, const Text& text, const auto&...) {
    in.text(name, member, text.bytes_max, text.form);
  }
  static void get(JsonReader& in, std::string_view name, fields::Id auto& member, const auto&...) {
    read_id(in, name, member);
  }
  static void get(JsonReader& in, std::string_view /*name*/, fields::Id auto& member, const InObject& object) {
    read_id(in, object.name, member);
  }
  template <WordEnum T>
  static void get(JsonReader& in, std::string_view name, T& member, const auto&...) {
    std::string word;
    in.text(name, word, fields::kEnumWordBytesMax);
    if (!in.status().ok()) return;
    const std::optional<T> known = from_word<T>(word);
    if (!known) return in.refuse(name, no_word(word, allowed_words<T>()));
    member = *known;
  }
  template <typename T, typename... Rules>
  static void get(JsonReader& in, std::string_view name, std::optional<T>& member, const Rules&... rules) {
    if (in.present(name)) get(in, name, member.emplace(), rules...);
  }
  template <typename T, typename... Rules>
  static void get(JsonReader& in, std::string_view name, std::vector<T>& members, const Items& items,
                  const Rules&... rules) {
    in.list(name, items.max, [&](JsonReader& item) { get(item, "", members.emplace_back(), rules...); });
  }
  template <typename T, typename... Rules>
  static void get(JsonReader& in, std::string_view name, std::vector<T>& members, const FirstItems& items,
                  const Rules&... rules) {
    get(in, name, members, Items{items.max}, rules...);
  }
  static void get(JsonReader& in, std::string_view name, std::vector<float>& members, const PackedFloats& packed,
                  const auto&...) {
    std::string text;
    in.text(name, text, base64_length(sizeof(float) * packed.max), TextForm::exact);
    if (!in.status().ok()) return;
    auto values = floats_from_base64(text);
    if (!values || values->size() > packed.max) return in.refuse(name, "is not the base64 text of finite floats");
    members = *std::move(values);
  }
  template <fields::Object Message>
  static void get(JsonReader& in, std::string_view name, Message& message, const auto&...) {
    const auto read = [&message](JsonReader& object) {
      FieldReader reader(object);
      each_field(reader, message);
    };
    if (name.empty()) return read(in);  // an item of a list
    in.object(name, read);
  }

  JsonReader& in_;
};

// Appends the message as a JSON object.
template <typename Message>
void write_fields(JsonWriter& out, std::string_view name, const Message& message) {
  FieldWriter writer(out);
  out.open(name, '{');
  each_field(writer, message);
  out.close('}');
}
template <typename Message>
void read_fields(JsonReader& in, Message& message) {
  FieldReader reader(in);
  each_field(reader, message);
}

template <typename Message>
std::string encode_fields(const Message& message) {
  JsonWriter out;
  write_fields(out, "", message);
  return std::move(out.str());
}
// Returns the message, or the first error under the name `what`.
template <typename Message>
Result<Message> decode_fields(std::string_view json, std::string_view what, std::size_t bytes_max) {
  return decode_json<Message>(json, what, bytes_max, read_fields<Message>);
}

}  // namespace starling::wire
