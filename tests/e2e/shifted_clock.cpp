// A library to preload: gives one process a wall clock that is wrong by CLOCK_SHIFT_S seconds, like a computer with a
// bad battery. With CLOCK_SPEED, its wall clock also runs faster by that factor, since the moment CLOCK_ORIGIN_S of the
// true one: like a computer that sleeps most of the time, so the clock that counts sleep (CLOCK_BOOTTIME) runs along.
// The clock for durations awake (CLOCK_MONOTONIC) stays right.
#include <dlfcn.h>
#include <sys/time.h>

#include <cstdlib>
#include <ctime>

namespace {

long long number_from(const char* variable, long long otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

constexpr long long kSecond = 1'000'000'000;

long long ns_of(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

timespec time_of(long long ns) { return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)}; }

// By how much the clock is ahead when the true time is `now_ns`.
long long ahead_ns(long long now_ns, bool counts_sleep) {
  static const long long shift = number_from("CLOCK_SHIFT_S", 0) * kSecond;
  static const long long speed = number_from("CLOCK_SPEED", 1);
  static const long long origin = number_from("CLOCK_ORIGIN_S", 0) * kSecond;
  const long long gained = speed == 1 ? 0 : (now_ns - origin) * (speed - 1);
  return counts_sleep ? gained : gained + shift;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* out) noexcept {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, out);
  const bool counts_sleep = clock == CLOCK_BOOTTIME;
  if (result != 0 || (!counts_sleep && clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  timespec now = *out;
  if (counts_sleep) real(CLOCK_REALTIME, &now);
  *out = time_of(ns_of(*out) + ahead_ns(ns_of(now), counts_sleep));
  return result;
}

extern "C" int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  const int result = ::clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, static_cast<suseconds_t>(now.tv_nsec / 1000)};
  return result;
}

extern "C" time_t time(time_t* out) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
