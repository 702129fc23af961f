#include "coordinator/dataset/progress.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <utility>

using namespace starling;
using namespace std::chrono_literals;

TEST_CASE("long work is told, and how far it is") {
  std::promise<std::string> told;
  bool once = true;
  dataset::Progress progress(
      [&](const std::string& line) {
        if (std::exchange(once, false)) told.set_value(line);
      },
      1ms);
  progress.begin("reading", 80, "MB");
  progress.advance_to(12);
  const std::string line = told.get_future().get();
  CHECK(line.starts_with("reading: "));
  CHECK(line.find(" of 80 MB") != std::string::npos);
}

TEST_CASE("work that is over soon is not told") {
  bool told = false;
  {
    dataset::Progress progress([&](const std::string&) { told = true; }, 1h);
  }
  CHECK_FALSE(told);
}
