// The threads that run handlers, behind a bounded queue.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "coordinator/gate/http_adapter.h"
#include "shared/base/mutex.h"

namespace starling::gate {

class WorkerPool {
 public:
  // `router` must outlive the pool.
  WorkerPool(const Router& router, const GateLimits& limits, int workers);
  // Drops queued jobs and waits for running ones.
  ~WorkerPool();

  struct Job {
    RawRequest request;
    Caller caller;
    std::function<void(Reply)> done;  // called on a worker's thread
  };
  // False, and the job is untouched, if queue_max jobs wait already.
  bool submit(Job& job);

 private:
  void work();

  const Router& router_;
  const GateLimits limits_;
  HandlerFailures failures_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Job> queue_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace starling::gate
