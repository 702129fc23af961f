// Waits that another thread can end.
#pragma once

#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::net {

TimePoint monotonic_now();

// Set once, from any thread; wakes all waits that use it, now and later.
class CancelEvent {
 public:
  CancelEvent();
  ~CancelEvent();
  CancelEvent(const CancelEvent&) = delete;
  CancelEvent& operator=(const CancelEvent&) = delete;

  void set();
  [[nodiscard]] bool is_set() const;
  // Waits until `due`; unavailable, "WHAT: cancelled", as soon as the event is set.
  Status wait_until(TimePoint due, std::string_view what) const;
  // Can be read once the event is set.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace starling::net
