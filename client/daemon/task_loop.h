// One thread's work: tasks from anywhere, run one after the other, and one timer. The control thread is one
// (it owns all session state); the trainer and coordinator threads are others (they may block).
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::daemon {

constexpr std::size_t kTasksMax = 4096;  // waiting on one loop; more is a bug, not load

class TaskLoop {
 public:
  explicit TaskLoop(const Clock& clock) : clock_(clock) {}
  ~TaskLoop() { stop(); }

  // Starts the thread. `name` is shown by debuggers and `top -H`.
  void start(const std::string& name);
  // Runs the tasks that are queued, then ends the thread; later posts are dropped. Not from the loop's own thread.
  void stop();

  // From any thread. Tasks run in the order of their posts.
  void post(std::function<void()> task);
  // Posts and waits for the end of the task; false when the loop is stopped. Not from the loop's own thread.
  bool run_and_wait(std::function<void()> task);

  // Loop thread only: `task` runs once, at `when`, unless set again before. kNever: no timer.
  void set_timer(TimePoint when, std::function<void()> task);

 private:
  void run();

  const Clock& clock_;
  std::thread thread_;
  Mutex mutex_;
  ConditionVariable wake_;
  std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  // For the loop thread alone.
  TimePoint timer_ = kNever;
  std::function<void()> timer_task_;
};

}  // namespace starling::daemon
