#include "tests/netlab/link_spec.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::netlab;

TEST_CASE("links are written as up:down:delay, with counts") {
  const auto links = parse_links("100x2,200:50.5,20:100:7.5x1");
  REQUIRE(links.ok());
  REQUIRE(links->size() == 4);
  CHECK((*links)[1].up_mbit == 100);
  CHECK((*links)[1].down_mbit == 100);
  CHECK((*links)[1].delay == Duration::zero());
  CHECK((*links)[2].down_mbit == 50.5);
  CHECK((*links)[3].up_mbit == 20);
  CHECK((*links)[3].delay == std::chrono::microseconds(7500));
}

TEST_CASE("links that make no sense are refused with what to write instead") {
  for (const char* text : {"", "100", "100x0", "100x1.5", "100x65", "0x4", "-5x4", "nanx4", "100:x4", "100:50:x4",
                           "100:50:-1x4", "100x4,", "100x4 ", "100y4", "1e9x4"}) {
    CAPTURE(text);
    const auto links = parse_links(text);
    REQUIRE_FALSE(links.ok());
    CHECK(links.error().code == ErrorCode::invalid_argument);
  }
  CHECK(parse_links("100:50:xx4").error().message.find("200:50:10") != std::string::npos);
}

TEST_CASE("the bound is what the links allow") {
  constexpr double kBytes = 4.0 * (4 << 20);
  const auto bound = [&](const char* text) { return all_reduce_bound_s(kBytes, parse_links(text).value()); };
  CHECK(bound("100x2") == doctest::Approx(1.342).epsilon(0.001));
  CHECK(bound("100x4") == doctest::Approx(2.013).epsilon(0.001));
  CHECK(bound("100x8") == doctest::Approx(2.349).epsilon(0.001));
  CHECK(bound("200x2,50x2") == doctest::Approx(2.684).epsilon(0.001));  // the slow peers send once, receive once
  CHECK(bound("200x4,50x4") == doctest::Approx(2.684).epsilon(0.001));
  CHECK(bound("100x3,10x1") == doctest::Approx(13.42).epsilon(0.001));
  CHECK(bound("20:100x4") == doctest::Approx(10.07).epsilon(0.001));
  // The sums of rates do not show it, but fast senders receive slowly here: min(up, down) of each counts.
  CHECK(bound("200:100x2,100:200x2") == doctest::Approx(2.013).epsilon(0.001));
}
