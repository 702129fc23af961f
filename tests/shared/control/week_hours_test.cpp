#include "shared/control/week_hours.h"

#include <doctest/doctest.h>

#include <random>

using namespace starling::wire;

TEST_CASE("weeks are written and read as people say them") {
  const auto said = [](std::string_view text) { return to_text(*parse_week_hours(text)); };
  CHECK(said("always") == "always");
  CHECK(said("never") == "never");
  CHECK(said("mon-fri 18-24, sat-sun 0-24") == "mon-fri 18-24, sat-sun 0-24");
  CHECK(said(" Monday-friday 18-24 ,  SUN 3-4,sun 4-5") == "mon-fri 18-24, sun 3-5");
  CHECK(said("daily 22-6") == "daily 0-6, daily 22-24");
  CHECK(said("sun 22-6") == "mon 0-6, sun 22-24");
  CHECK(said("fri-mon 9-17") == "mon 9-17, fri-sun 9-17");
  CHECK(said("daily 0-24") == "always");
}

TEST_CASE("every week there can be reads back as it was written") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    WeekHours hours;
    for (int bit = 0; bit < kWeekHours; ++bit) hours[static_cast<std::size_t>(bit)] = random() % (2 + i % 7) == 0;
    const auto back = parse_week_hours(to_text(hours));
    REQUIRE(back.ok());
    REQUIRE((*back == hours));
  }
}

TEST_CASE("what is no week is refused with an example") {
  for (const char* text : {"", "mon", "mon 5", "mon 5-5", "mon 5-25", "mon 24-25", "xyz 1-2", "monkey 1-2", "mon 1-2,",
                           "mon 1 - 2", "mon-fri-sun 1-2", "1-2"}) {
    const auto parsed = parse_week_hours(text);
    REQUIRE_FALSE_MESSAGE(parsed.ok(), text);
    CHECK(parsed.error().message.find("mon-fri 18-24") != std::string::npos);
  }
}
