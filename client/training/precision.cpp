#include "client/training/precision.h"

#include <ATen/autocast_mode.h>

#include <fstream>
#include <string>

namespace starling::training {

bool computes_in_bf16() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);) {
    if (line.starts_with("flags")) {
      return line.find(" amx_bf16") != std::string::npos || line.find(" avx512_bf16") != std::string::npos;
    }
  }
  return false;
}

Precision::Precision(bool bf16) : on_(bf16) {
  if (!on_) return;
  at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  at::autocast::set_cpu_enabled(true);
}

Precision::~Precision() {
  if (!on_) return;
  at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(false);
}

}  // namespace starling::training
