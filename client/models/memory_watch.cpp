#include "client/models/memory_watch.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/version.h>

#include <algorithm>
#include <cstddef>

namespace starling::models {

namespace {

#if TORCH_VERSION_MAJOR >= 2
using Total = std::size_t;
#else
using Total = std::int64_t;
#endif

// Receives the reports of LibTorch's memory profiler.
class Ledger final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t bytes, Total, Total, c10::Device device) override {
    if (!device.is_cpu()) return;
    held_ += bytes;  // negative when memory is freed
    most_ = std::max(most_, held_);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
  [[nodiscard]] std::int64_t most() const { return most_; }

 private:
  std::int64_t held_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace

struct MemoryWatch::Impl {
  std::shared_ptr<Ledger> ledger = std::make_shared<Ledger>();
  c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, ledger};
};

MemoryWatch::MemoryWatch() : impl_(std::make_unique<Impl>()) {}
MemoryWatch::~MemoryWatch() = default;
std::int64_t MemoryWatch::most() const { return impl_->ledger->most(); }

}  // namespace starling::models
