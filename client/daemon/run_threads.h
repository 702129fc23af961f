// The threads as one run, or one cell of it, uses them. Its tasks and events are dropped once the run was stopped, so
// that a part of the run may post `this`: the run is destroyed on the control thread behind everything that was posted
// before.
//
// Batches are computed on the trainer thread. Steps are taken there, too, or, where updates are delayed, on a thread of
// their own beside the batches; whatever else changes or saves the state waits for them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "client/daemon/corrected_clock.h"
#include "client/daemon/task_loop.h"
#include "shared/base/clock.h"

namespace starling::daemon {

// The daemon's threads and clock; they outlive every run.
struct Threads {
  TaskLoop& control;
  TaskLoop& trainer;
  TaskLoop& coordinator;
  CorrectedClock& clock;
};

class RunThreads {
 public:
  using Task = std::function<void()>;

  // `after_event` runs on the control thread after each event.
  RunThreads(const Threads& threads, bool delayed_steps, Task after_event);

  [[nodiscard]] CorrectedClock& clock() const { return threads_.clock; }
  [[nodiscard]] TimePoint now() const { return threads_.clock.now(); }

  // Runs `event` on the control thread, unless the run was stopped. From any thread.
  void deliver(std::function<void(TimePoint now)> event);
  // Like deliver(), but waits for the end of the event, and no after_event follows. From the trainer thread.
  void decide(const std::function<void(TimePoint now)>& event);
  // Sets the control thread's one timer, whose end is an event; kNever: none. Several runs may share the threads if one
  // of them sets it. Control thread.
  void set_timer(TimePoint when, std::function<void(TimePoint now)> event);

  // From any thread. `if_stopped` runs instead of the task if the run was stopped meanwhile.
  void on_trainer(Task task, Task if_stopped = nullptr);
  void on_coordinator(Task task);
  void on_stepper(Task task);
  // Waits for the steps under way. Trainer thread.
  void wait_for_steps();

  // Drops everything from now on. Control thread.
  void stop();
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Waits for the step under way and ends the stepper's thread. Trainer thread, after stop().
  void end_steps();

 private:
  [[nodiscard]] Task unless_stopped(Task task) const;

  const Threads threads_;
  const Task after_event_;
  std::atomic<bool> stopped_{false};
  bool has_timer_ = false;             // it was this object that set the timer
  std::unique_ptr<TaskLoop> stepper_;  // null where steps are taken on the trainer thread
};

}  // namespace starling::daemon
