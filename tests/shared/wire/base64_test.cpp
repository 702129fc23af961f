#include "shared/wire/base64.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace starling::wire;

namespace {

std::vector<std::uint8_t> bytes(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace

TEST_CASE("bytes have the texts of RFC 4648, section 10, and come back") {
  for (const auto& [plain, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    CAPTURE(plain);
    CHECK(base64(bytes(plain)) == text);
    CHECK(from_base64(text) == bytes(plain));
    CHECK(base64_length(std::string_view(plain).size()) == std::string_view(text).size());
  }
}

TEST_CASE("other texts are refused") {
  for (const char* text : {"Zg=", "Zg", "Z===", "====", "Zg==Zg==", "Zh==", "Zm9=", "Zm8 ", "Zm-_", "Zm9v\n", "=m9v"}) {
    CAPTURE(text);
    CHECK_FALSE(from_base64(text));
  }
}

TEST_CASE("finite floats come back to the bit, and no others do") {
  const std::vector<float> values{0, -0.F, 1.5F, std::numeric_limits<float>::denorm_min(), -3e38F};
  const auto back = floats_from_base64(base64_of_floats(values));
  REQUIRE(back);
  CHECK(*back == values);
  CHECK(std::signbit((*back)[1]));
  CHECK(floats_from_base64("")->empty());
  CHECK_FALSE(floats_from_base64(base64_of_floats(std::vector{std::numeric_limits<float>::infinity()})));
  CHECK_FALSE(floats_from_base64(base64_of_floats(std::vector{std::numeric_limits<float>::quiet_NaN()})));
  CHECK_FALSE(floats_from_base64("Zm9v"));  // three bytes
}
