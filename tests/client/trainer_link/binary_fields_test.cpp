#include "client/trainer_link/binary_fields.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

using namespace starling;
using namespace starling::trainer_link;

namespace {

// A message with a field of every kind.
struct Sample {
  bool flag = false;
  std::int32_t number = 0;
  double value = 0;
  std::optional<double> perhaps;
  std::string text;
};

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, Sample>& sample) {
  visit("flag", sample.flag);
  visit("number", sample.number, wire::Whole{-5, 1000});
  visit("value", sample.value, wire::Real{0, 10});
  visit("perhaps", sample.perhaps, wire::Real{0, 1});
  visit("text", sample.text, wire::Text{4});
}

std::string written(const Sample& sample) {
  std::string bytes;
  BinaryWriter writer(bytes);
  each_field(writer, sample);
  return bytes;
}

struct Outcome {
  Sample sample;
  Status status;
  std::size_t behind = 0;  // bytes that no field took
};

Outcome read(const std::string& bytes) {
  Outcome outcome;
  BinaryReader reader({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  each_field(reader, outcome.sample);
  outcome.status = reader.status();
  outcome.behind = reader.rest().size();
  return outcome;
}

std::string refusal(const std::string& bytes) {
  const Outcome outcome = read(bytes);
  if (outcome.status.ok()) return "";
  CHECK(outcome.status.error().code == ErrorCode::corrupt);
  return outcome.status.error().message;
}

}  // namespace

TEST_CASE("fields stand one after the other, and come back as they were") {
  const Sample sample{true, -5, 2.5, 0.5, "ab"};
  const std::string bytes = written(sample);
  CHECK(bytes.size() == 1 + 4 + 8 + (1 + 8) + (4 + 2));
  const Outcome got = read(bytes + "xyz");
  REQUIRE(got.status.ok());
  CHECK(got.behind == 3);
  CHECK(got.sample.flag);
  CHECK(got.sample.number == -5);
  CHECK(got.sample.value == 2.5);
  CHECK(got.sample.perhaps == 0.5);
  CHECK(got.sample.text == "ab");
  CHECK(written({}).size() == bytes.size() - 8 - 2);
  CHECK_FALSE(read(written({})).sample.perhaps);
}

TEST_CASE("bytes that end too early are refused, wherever that is") {
  const std::string bytes = written({true, 7, 2.5, 0.5, "ab"});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK(refusal(bytes.substr(0, length)).find("is cut off") != std::string::npos);
  }
}

TEST_CASE("a value out of range is refused by name, and the first error counts") {
  CHECK(refusal(written({true, 1001, 11, 0.5, ""})) == "field 'number' is out of range");
  CHECK(refusal(written({true, -6, 0, 0.5, ""})) == "field 'number' is out of range");
  CHECK(refusal(written({true, 0, 10.5, 0.5, ""})) == "field 'value' is out of range");
  CHECK(refusal(written({true, 0, std::numeric_limits<double>::quiet_NaN(), 0.5, ""})) ==
        "field 'value' is out of range");
  CHECK(refusal(written({true, 0, 0, -0.5, ""})) == "field 'perhaps' is out of range");
}

TEST_CASE("a truth value has two forms, and no third") {
  std::string bytes = written({true, 0, 0, {}, ""});
  CHECK(refusal(bytes).empty());
  bytes[0] = 2;
  CHECK(refusal(bytes) == "field 'flag' is neither true nor false");
}

TEST_CASE("a text is cut where it is written, and refused where it is read") {
  const std::string bytes = written({false, 0, 0, {}, "abcdef"});
  CHECK(read(bytes).sample.text == "abcd");
  std::string longer = bytes + "e";
  longer[1 + 4 + 8 + 1] = 5;  // the length
  CHECK(refusal(longer) == "field 'text' is too long");
}
