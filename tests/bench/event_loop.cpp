#include "tests/bench/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "shared/base/verify.h"

namespace starling::bench {
namespace {

constexpr int kEventsAtOnce = 256;

std::uint32_t events_of(bool writes) { return writes ? EPOLLIN | EPOLLOUT : EPOLLIN; }

}  // namespace

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) { VERIFY(bool(epoll_)); }

void EventLoop::watch(int socket, std::function<void()> on_event) {
  watched_[socket] = std::move(on_event);
  epoll_event event{.events = events_of(true), .data = {.fd = socket}};
  VERIFY(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) == 0);
}

void EventLoop::want(int socket, bool writes) const {
  epoll_event event{.events = events_of(writes), .data = {.fd = socket}};
  VERIFY(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket, &event) == 0);
}

void EventLoop::drop(int socket) {
  watched_.erase(socket);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

bool EventLoop::run_until(const std::function<bool()>& done, TimePoint limit) {
  while (!done()) {
    if (now() >= limit) return false;
    wait(limit);
    run_timers();
  }
  return true;
}

void EventLoop::run_timers() {
  const TimePoint moment = now();
  while (!timers_.empty() && timers_.begin()->first <= moment) {
    const auto action = timers_.extract(timers_.begin());
    action.mapped()();
  }
}

void EventLoop::wait(TimePoint limit) {
  const TimePoint next = timers_.empty() ? limit : std::min(limit, timers_.begin()->first);
  const std::int64_t left = std::max<std::int64_t>(0, (next - now()).count());
  const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_pwait2(epoll_.get(), events.data(), kEventsAtOnce, &timeout, nullptr);
  for (int i = 0; i < count; ++i) {
    const auto found = watched_.find(events[static_cast<std::size_t>(i)].data.fd);
    if (found == watched_.end()) continue;  // dropped by an earlier event
    const std::function<void()> action = found->second;
    action();
  }
}

}  // namespace starling::bench
