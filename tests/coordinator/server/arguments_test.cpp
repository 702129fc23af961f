#include "coordinator/server/arguments.h"

#include <doctest/doctest.h>

namespace starling::server {

TEST_CASE("a time is a clock's, a calendar's, or so long from now") {
  const WallTime noon = *parse_time("2024-06-10 12:00", {});
  CHECK(local_time(noon) == "2024-06-10 12:00");
  CHECK(local_time(*parse_time("18:30", noon)) == "2024-06-10 18:30");
  CHECK(local_time(*parse_time("2024-02-29 10:00", noon)) == "2024-02-29 10:00");
  CHECK(local_time(*parse_time("11:59", noon)) == "2024-06-11 11:59");  // the next time that clocks show it
  CHECK(local_time(*parse_time("12:00", noon)) == "2024-06-11 12:00");
  CHECK(local_time(*parse_time("01:00", *parse_time("2024-12-31 23:00", {}))) == "2025-01-01 01:00");
  CHECK(parse_time("2h", noon)->unix_ms == noon.unix_ms + 7'200'000);
  for (const char* text : {"", "soon", "25:00", "12:00:00", "2024-13-01 12:00", "2024-06-10", "18:30 x",
                           "2024-02-30 12:00", "2023-02-29 12:00", "2024-04-31 10:00", "2024-06-00 10:00"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text, noon).ok());
  }
}

TEST_CASE("addresses name a host and a port") {
  CHECK(parse_endpoint("127.0.0.1:80")->port == 80);
  CHECK(parse_endpoint("[2001:db8::1]:7300")->host == "2001:db8::1");
  CHECK(format_endpoint(*parse_endpoint("[::]:7300")) == "[::]:7300");
  CHECK(format_endpoint(*parse_endpoint("example.org:7300")) == "example.org:7300");
  CHECK(format_endpoint(*parse_endpoint("my_host:7300")) == "my_host:7300");
  for (const char* text :
       {"", ":80", "host", "host:", "host:0", "host:65536", "host:-1", "host:8x", "::1:80", "[]:80"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_endpoint(text).ok());
  }
}

TEST_CASE("rounds are one or a range") {
  CHECK(parse_rounds("")->last == INT64_MAX);
  CHECK(parse_rounds("7")->first == 7);
  CHECK(parse_rounds("7")->last == 7);
  CHECK(parse_rounds("120-180")->last == 180);
  for (const char* text : {"-", "5-", "-5", "9-3", "a-b", "1-2-3", " 1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_rounds(text).ok());
  }
}

TEST_CASE("durations are a number and a unit") {
  CHECK(*parse_duration("1s") == Duration(std::chrono::seconds(1)));
  CHECK(*parse_duration("90m") == Duration(std::chrono::minutes(90)));
  CHECK(*parse_duration("7d") == Duration(std::chrono::hours(168)));
  CHECK(*parse_duration("2w") == Duration(std::chrono::hours(336)));
  for (const char* text : {"", "d", "7", "0d", "-1d", "7x", "1.5d", "99999999999999999w", "999999999d"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).ok());
  }
}

}  // namespace starling::server
