#include "tests/sim/event_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "shared/swarm/random_stream.h"

using namespace starling;
using namespace starling::sim;

TEST_CASE("events come out by time, and in the order in which they were set within one moment") {
  swarm::RandomStream random(3);
  EventQueue queue;
  std::vector<std::pair<TimePoint, std::uint32_t>> expected;
  std::vector<std::pair<TimePoint, std::uint32_t>> seen;
  std::uint32_t next = 0;
  TimePoint now{};
  for (int step = 0; step < 2000; ++step) {
    for (int k = 0; k < 5; ++k) {
      // Near and far times, and often one and the same, also the present one.
      const auto delay = std::chrono::nanoseconds(std::int64_t{random.below(4)} << random.below(40));
      queue.push(now + delay, next);
      expected.emplace_back(now + delay, next++);
    }
    const TimePoint end = now + std::chrono::milliseconds(random.below(20'000));
    for (int k = 0; k < 5 && queue.ready(end); ++k) {
      const EventQueue::Due due = queue.pop();
      CHECK(due.when >= now);
      CHECK(due.when <= end);
      now = due.when;
      seen.emplace_back(due.when, due.place);
    }
  }
  while (queue.ready(kNever)) {
    const EventQueue::Due due = queue.pop();
    seen.emplace_back(due.when, due.place);
  }
  CHECK(queue.size() == 0);
  std::sort(expected.begin(), expected.end());
  CHECK(seen == expected);
}
