// A line on standard error with the progress of a long command. Nothing is shown if that is not a terminal, or for work
// that is done within two seconds.
#pragma once

#include <chrono>
#include <string>

namespace starling::sim {

// "1 h 2 min", "3 min 4 s", "5 s": to read, not to compute with.
std::string readable_duration(double seconds);

class Progress {
 public:
  Progress();
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // done: fraction of the whole, 0 to 1. Shown at most five times a second, with the time that is left at this pace.
  void show(double done, const std::string& what);
  // Takes the line away, so that something can be printed where it was.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace starling::sim
