#include "client/daemon/task_loop.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <vector>

using namespace starling;
using namespace starling::daemon;

TEST_CASE("tasks run in the order of their posts, on one thread") {
  const SystemClock clock;
  TaskLoop loop(clock);
  loop.start("test");
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
  REQUIRE(loop.run_and_wait([] {}));
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a timer runs once, when it is due, and the newest one counts") {
  const SystemClock clock;
  TaskLoop loop(clock);
  loop.start("test");
  std::promise<int> rang;
  std::atomic<int> first{0};
  loop.post([&] {
    loop.set_timer(clock.now() + std::chrono::hours(1), [&] { ++first; });
    loop.set_timer(clock.now() + std::chrono::milliseconds(5), [&] { rang.set_value(2); });
  });
  CHECK(rang.get_future().get() == 2);
  CHECK(first == 0);
}

TEST_CASE("stopping runs what is queued and drops what comes later") {
  const SystemClock clock;
  TaskLoop loop(clock);
  loop.start("test");
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i) loop.post([&ran] { ++ran; });
  loop.stop();
  CHECK(ran == 50);
  CHECK_FALSE(loop.run_and_wait([&ran] { ++ran; }));
  CHECK(ran == 50);
}
