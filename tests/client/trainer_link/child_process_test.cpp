#include "client/trainer_link/child_process.h"

#include <doctest/doctest.h>

#include <thread>

using namespace starling;
using namespace starling::trainer_link;

TEST_CASE("who waits for a child's own end keeps nobody from ending it, and is woken by that") {
  auto child = ChildProcess::spawn({.program = "/bin/sleep", .arguments = {"600"}, .environment = {}, .fds = {}});
  REQUIRE(child.ok());
  const SystemClock clock;
  const TimePoint begun = clock.now();
  std::thread waiting([&] { child->wait_for_end(std::chrono::seconds(300)); });
  child->end();
  waiting.join();
  CHECK(clock.now() - begun < std::chrono::seconds(300));
  CHECK(child->epitaph() == "was ended");
}

TEST_CASE("a child that is given time to end tells how it ended") {
  auto child = ChildProcess::spawn({.program = "/bin/sh", .arguments = {"-c", "exit 7"}, .environment = {}, .fds = {}});
  REQUIRE(child.ok());
  child->wait_for_end(std::chrono::seconds(300));
  child->end();
  CHECK(child->epitaph() == "ended with exit code 7");
}
