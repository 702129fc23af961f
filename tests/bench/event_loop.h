// Sockets and timers of a load generator, on one thread. Callbacks may add and drop anything.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

#include "shared/base/clock.h"
#include "shared/base/unique_fd.h"

namespace starling::bench {

class EventLoop {
 public:
  EventLoop();

  [[nodiscard]] TimePoint now() const { return clock_.now(); }
  void at(TimePoint when, std::function<void()> action) { timers_.emplace(when, std::move(action)); }
  void post(std::function<void()> action) { at(TimePoint{}, std::move(action)); }

  // Calls `on_event` whenever the socket can be read (or also written, if `writes`).
  void watch(int socket, std::function<void()> on_event);
  void want(int socket, bool writes) const;
  void drop(int socket);  // to be called before it is closed

  // Runs until `done` returns true, which is called after every event; false when `limit` came first.
  bool run_until(const std::function<bool()>& done, TimePoint limit);

 private:
  void run_timers();
  void wait(TimePoint limit);

  SystemClock clock_;
  UniqueFd epoll_;
  std::multimap<TimePoint, std::function<void()>> timers_;
  std::unordered_map<int, std::function<void()>> watched_;
};

}  // namespace starling::bench
