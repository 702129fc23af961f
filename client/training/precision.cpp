#include "client/training/precision.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace starling::training {

namespace {

void autocast(c10::DeviceType type, bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(type, at::kBFloat16);
  at::autocast::set_autocast_enabled(type, on);
#else
  if (type == c10::DeviceType::CPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  }
#endif
}

}  // namespace

Precision::Precision(bool bf16, const c10::Device& device) : on_(bf16), type_(device.type()) {
  if (on_) autocast(type_, true);
}

Precision::~Precision() {
  if (!on_) return;
  at::autocast::clear_cache();
  autocast(type_, false);
}

}  // namespace starling::training
