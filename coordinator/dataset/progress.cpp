#include "coordinator/dataset/progress.h"

#include <fmt/core.h>

#include <utility>

namespace starling::dataset {

Progress::Progress(Tell tell, Duration every) : tell_(std::move(tell)), every_(every) {
  thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

void Progress::begin(std::string doing, std::int64_t total, std::string unit) {
  const MutexLock lock(mutex_);
  doing_ = std::move(doing);
  total_ = total;
  unit_ = std::move(unit);
  began_ = clock_.now();
  done_ = 0;
}

void Progress::run() {
  const MutexLock lock(mutex_);
  for (TimePoint next = clock_.now() + every_; !over_;) {
    const TimePoint now = clock_.now();
    if (now < next) {
      wake_.wait_for(mutex_, next - now);
      continue;
    }
    if (!doing_.empty()) tell_(line(now));
    next = now + every_;
  }
}

std::string Progress::line(TimePoint now) const {
  const double seconds = to_seconds(now - began_);
  if (total_ == 0) return fmt::format("{}: {:.0f} s", doing_, seconds);
  return fmt::format("{}: {} of {} {}, {:.0f} s", doing_, done_.load(), total_, unit_, seconds);
}

}  // namespace starling::dataset
