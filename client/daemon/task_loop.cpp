#include "client/daemon/task_loop.h"

#include <pthread.h>

#include <future>
#include <memory>
#include <utility>

#include "shared/base/verify.h"

namespace starling::daemon {

void TaskLoop::start(const std::string& name) {
  VERIFY(!thread_.joinable());
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
}

void TaskLoop::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TaskLoop::post(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    VERIFY(tasks_.size() < kTasksMax);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

bool TaskLoop::run_and_wait(std::function<void()> task) {
  VERIFY(std::this_thread::get_id() != thread_.get_id());
  // The promise is broken, not kept, when the loop drops the task: either way the wait ends.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> finished = done->get_future();
  post([task = std::move(task), keep = std::move(done)] {
    task();
    keep->set_value();
  });
  try {
    finished.get();
    return true;
  } catch (const std::future_error&) {
    return false;
  }
}

void TaskLoop::set_timer(TimePoint when, std::function<void()> task) {
  timer_ = when;
  timer_task_ = std::move(task);
}

void TaskLoop::run() {
  while (true) {
    std::function<void()> task;
    {
      const MutexLock lock(mutex_);
      while (tasks_.empty() && !stopping_) {
        const TimePoint now = clock_.now();
        if (timer_ <= now) break;
        if (timer_ == kNever) {
          wake_.wait(mutex_);
        } else {
          wake_.wait_for(mutex_, timer_ - now);
        }
      }
      if (!tasks_.empty()) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      } else if (stopping_) {
        return;
      }
    }
    // A timer that is due goes first; otherwise a busy queue could put it off for ever.
    if (timer_ <= clock_.now()) {
      timer_ = kNever;
      std::exchange(timer_task_, nullptr)();
    }
    if (task) task();
  }
}

}  // namespace starling::daemon
