// The words for what this trainer computes on.
#pragma once

#include <string>
#include <vector>

#include "client/training/processor.h"
#include "shared/protocol/compute_device.h"

namespace starling::training {

// The LibTorch that is loaded: "LibTorch 2.6.0 with CUDA 12.4", "LibTorch 1.13.1 without CUDA".
std::string backend_name();

// The operating system and the processor's family: "linux x86_64".
std::string platform_name();

// Kind, count, name, memory, backend and platform of LibTorch's devices, which are alike: "cpu", or "cuda:0", "cuda:1"
// … once they are open.
wire::ComputeDevice describe_devices(const std::vector<std::string>& names, const Processor& processor);

}  // namespace starling::training
