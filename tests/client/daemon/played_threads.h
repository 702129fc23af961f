// A daemon's threads with a run on top, for tests of the run's parts.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

#include "client/daemon/run_threads.h"

namespace starling::daemon::testing {

struct PlayedThreads {
  PlayedThreads() {
    std::signal(SIGPIPE, SIG_IGN);  // the daemon ignores it, too
    control.start("control");
    trainer.start("trainer");
    coordinator.start("coordinator");
  }
  ~PlayedThreads() { end(); }
  PlayedThreads(const PlayedThreads&) = delete;
  PlayedThreads& operator=(const PlayedThreads&) = delete;

  void on_control(const std::function<void()>& task) { control.run_and_wait(task); }
  // Waits for what was posted so far, and for the events that it posted.
  void settle() {
    coordinator.run_and_wait([] {});
    trainer.run_and_wait([] {});
    control.run_and_wait([] {});
  }
  // Stops the run: parts under test end after this.
  void end() {
    on_control([this] { run.stop(); });
    coordinator.stop();
    trainer.stop();
    control.stop();
  }

  CorrectedClock clock;
  TaskLoop control{clock};
  TaskLoop trainer{clock};
  TaskLoop coordinator{clock};
  RunThreads run{{control, trainer, coordinator, clock}, false, [] {}};
};

// One event's value, for a test that waits for it. Later events are dropped.
template <typename Value>
class Awaited {
 public:
  void set(Value value) {
    if (!set_.exchange(true)) promise_.set_value(std::move(value));
  }
  [[nodiscard]] bool has_come() const { return set_; }
  // Only once. A test that waits for as long as the limit fails.
  Value wait() {
    constexpr std::chrono::seconds kPatience{60};
    auto future = promise_.get_future();
    if (future.wait_for(kPatience) != std::future_status::ready) throw std::runtime_error("the event did not come");
    return future.get();
  }

 private:
  std::atomic<bool> set_{false};
  std::promise<Value> promise_;
};

}  // namespace starling::daemon::testing
