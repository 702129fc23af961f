#include "client/daemon/run_threads.h"

#include <utility>

namespace starling::daemon {

RunThreads::RunThreads(const Threads& threads, bool delayed_steps, Task after_event)
    : threads_(threads), after_event_(std::move(after_event)) {
  if (!delayed_steps) return;
  stepper_ = std::make_unique<TaskLoop>(threads_.clock);
  stepper_->start("stepper");
}

RunThreads::Task RunThreads::unless_stopped(Task task) const {
  return [this, task = std::move(task)] {
    if (!stopped_) task();
  };
}

void RunThreads::deliver(std::function<void(TimePoint now)> event) {
  threads_.control.post(unless_stopped([this, event = std::move(event)] {
    event(now());
    after_event_();
  }));
}

void RunThreads::decide(const std::function<void(TimePoint now)>& event) {
  threads_.control.run_and_wait(unless_stopped([&] { event(now()); }));
}

void RunThreads::set_timer(TimePoint when, std::function<void(TimePoint now)> event) {
  has_timer_ = true;
  threads_.control.set_timer(when, unless_stopped([this, event = std::move(event)] {
                               event(now());
                               after_event_();
                             }));
}

void RunThreads::on_trainer(Task task, Task if_stopped) {
  threads_.trainer.post([this, task = std::move(task), if_stopped = std::move(if_stopped)] {
    if (!stopped_) {
      task();
    } else if (if_stopped) {
      if_stopped();
    }
  });
}

void RunThreads::on_coordinator(Task task) { threads_.coordinator.post(unless_stopped(std::move(task))); }

void RunThreads::on_stepper(Task task) {
  TaskLoop& loop = stepper_ != nullptr ? *stepper_ : threads_.trainer;
  loop.post(unless_stopped(std::move(task)));
}

void RunThreads::wait_for_steps() {
  if (stepper_ != nullptr) stepper_->run_and_wait([] {});
}

void RunThreads::stop() {
  stopped_ = true;
  if (has_timer_) threads_.control.set_timer(kNever, nullptr);
}

void RunThreads::end_steps() {
  if (stepper_ != nullptr) stepper_->stop();
}

}  // namespace starling::daemon
