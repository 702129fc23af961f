#include "client/daemon/run_threads.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace starling;
using namespace starling::daemon;

namespace {

// The daemon's threads, and a run's on top. `seen` is for the control thread alone.
struct Daemon {
  explicit Daemon(bool delayed_steps = false)
      : run({control, trainer, coordinator, clock}, delayed_steps, [this] { seen.push_back("after"); }) {
    control.start("control");
    trainer.start("trainer");
    coordinator.start("coordinator");
  }
  // Tasks on the trainer thread may post to control.
  std::vector<std::string> settled() {
    coordinator.run_and_wait([] {});
    trainer.run_and_wait([] {});
    std::vector<std::string> copy;
    control.run_and_wait([&] { copy = seen; });
    return copy;
  }
  void see(std::string what) {
    run.deliver([this, what = std::move(what)](TimePoint) { seen.push_back(what); });
  }
  std::thread::id thread_of_trainer() {
    std::thread::id id;
    trainer.run_and_wait([&] { id = std::this_thread::get_id(); });
    return id;
  }

  CorrectedClock clock;
  TaskLoop control{clock};
  TaskLoop trainer{clock};
  TaskLoop coordinator{clock};
  std::vector<std::string> seen;
  RunThreads run;
};

using Seen = std::vector<std::string>;

}  // namespace

TEST_CASE("each event is followed by what comes after events, a decision is not") {
  Daemon daemon;
  daemon.see("first");
  daemon.see("second");
  daemon.run.on_trainer([&] {
    bool decided = false;
    daemon.run.decide([&](TimePoint) { decided = true; });
    CHECK(decided);
  });
  CHECK(daemon.settled() == Seen{"first", "after", "second", "after"});
}

TEST_CASE("a stopped run gets no event, no timer and no task, though they were posted before") {
  Daemon daemon;
  std::promise<void> goes_on;
  daemon.trainer.post([&] { goes_on.get_future().wait(); });
  std::string ran;  // for the trainer thread alone
  daemon.run.on_trainer([&] {
    ran += "task ";
    daemon.see("from the task");
  });
  daemon.run.on_trainer([&] { ran += "other task "; }, [&] { ran += "refusal"; });
  daemon.control.run_and_wait([&] {
    daemon.run.set_timer(daemon.run.now() + std::chrono::milliseconds(1),
                         [&](TimePoint) { daemon.seen.push_back("timer"); });
    daemon.see("behind the stop");
    daemon.run.stop();
  });
  goes_on.set_value();
  daemon.run.on_coordinator([&] { daemon.see("from the coordinator"); });
  bool decided = false;
  daemon.run.decide([&](TimePoint) { decided = true; });
  CHECK(daemon.settled().empty());
  CHECK(ran == "refusal");
  CHECK_FALSE(decided);
}

TEST_CASE("steps are taken on the trainer thread, or beside it where they are delayed") {
  for (const bool delayed : {false, true}) {
    CAPTURE(delayed);
    Daemon daemon(delayed);
    std::promise<std::thread::id> stepped;
    daemon.run.on_stepper([&] { stepped.set_value(std::this_thread::get_id()); });
    CHECK((stepped.get_future().get() == daemon.thread_of_trainer()) == !delayed);
    daemon.control.run_and_wait([&] { daemon.run.stop(); });
    daemon.run.end_steps();
  }
}

TEST_CASE("who waits for steps finds them taken") {
  Daemon daemon(true);
  std::promise<void> goes_on;
  int steps = 0;
  daemon.run.on_stepper([&] {
    goes_on.get_future().wait();
    ++steps;
  });
  daemon.run.on_stepper([&] { ++steps; });
  std::promise<int> found;
  daemon.run.on_trainer([&] {
    daemon.run.wait_for_steps();
    found.set_value(steps);
  });
  goes_on.set_value();
  CHECK(found.get_future().get() == 2);
}

TEST_CASE("a cell that is stopped leaves the timer to its run") {
  Daemon daemon;
  RunThreads cell({daemon.control, daemon.trainer, daemon.coordinator, daemon.clock}, false, [] {});
  std::promise<void> due;
  daemon.control.run_and_wait([&] {
    daemon.run.set_timer(daemon.run.now() + std::chrono::milliseconds(1), [&](TimePoint) { due.set_value(); });
    cell.stop();
  });
  CHECK(due.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready);
}
