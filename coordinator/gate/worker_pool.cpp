#include "coordinator/gate/worker_pool.h"

#include <utility>

namespace starling::gate {

WorkerPool::WorkerPool(const Router& router, const GateLimits& limits, int workers) : router_(router), limits_(limits) {
  for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::submit(Job& job) {
  {
    MutexLock lock(mutex_);
    if (closing_ || queue_.size() >= static_cast<std::size_t>(limits_.queue_max)) return false;
    queue_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::work() {
  HttpAdapter adapter(router_, limits_, failures_);
  for (;;) {
    Job job;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !closing_) changed_.wait(mutex_);
      if (closing_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    job.done(adapter.answer(job.request, job.caller));
  }
}

}  // namespace starling::gate
