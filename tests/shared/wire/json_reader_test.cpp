#include "shared/wire/json_reader.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::wire;

namespace {

std::string read(std::string_view json, TextForm form) {
  const auto document = JsonDocument::parse(json, 1000);
  REQUIRE(document.ok());
  JsonReader reader = document->root();
  std::string text;
  reader.text("text", text, 100, form);
  REQUIRE(reader.status().ok());
  return text;
}

}  // namespace

TEST_CASE("text comes out plain, unless every byte of it counts") {
  const std::string_view json = R"({"text":"a\u001b[2J\nb\u009b\u202e"})";
  CHECK(read(json, TextForm::line) == "a?[2J b?");
  CHECK(read(json, TextForm::lines) == "a?[2J\nb?");
  CHECK(read(json, TextForm::exact) == "a\x1b[2J\nb\u009b\u202e");
}

TEST_CASE("an error names a field plainly, whoever named it") {
  const auto document = JsonDocument::parse(R"({"a\u001b[2J\nb":{"x":"no number"}})", 1000);
  REQUIRE(document.ok());
  JsonReader reader = document->root();
  reader.fields(4, [](std::string_view /*name*/, JsonReader& field) {
    std::int64_t x = 0;
    field.integer("x", x, 0, 9);
  });
  CHECK(reader.status().error().message == "'a?[2J b.x': must be a whole number from 0 to 9");
}
