// A library to preload: gives one process a wall clock that is wrong by CLOCK_SHIFT_S seconds, like a computer with a
// bad battery. Only the time of day is wrong: the clock for durations (CLOCK_MONOTONIC) stays right, as it does there.
#include <dlfcn.h>
#include <sys/time.h>

#include <cstdlib>
#include <ctime>

namespace {

time_t shift_s() {
  static const time_t shift = [] {
    const char* text = std::getenv("CLOCK_SHIFT_S");
    return text == nullptr ? time_t{0} : static_cast<time_t>(std::atol(text));
  }();
  return shift;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* out) noexcept {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, out);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) out->tv_sec += shift_s();
  return result;
}

extern "C" int gettimeofday(timeval* out, void* zone) noexcept {
  static auto* const real = next<int(timeval*, void*)>("gettimeofday");
  const int result = real(out, zone);
  if (result == 0) out->tv_sec += shift_s();
  return result;
}

extern "C" time_t time(time_t* out) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
