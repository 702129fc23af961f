#include "tests/sim/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace starling::sim {
namespace {

constexpr std::chrono::seconds kSilence{2};
constexpr std::chrono::milliseconds kBetween{200};

}  // namespace

std::string readable_duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0), next_(began_ + kSilence) {}

Progress::~Progress() { clear(); }

void Progress::show(double done, const std::string& what) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  const double spent = std::chrono::duration<double>(now - began_).count();
  const std::string left = done > 0 ? readable_duration(spent * (1 - done) / done) + " left" : "just begun";
  fmt::print(stderr, "\r\x1b[K{:3.0f} %, {}: {}", 100 * done, left, what);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace starling::sim
