#include "client/training/devices.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <algorithm>
#include <cctype>

#include "client/training/graphics_card.h"

namespace starling::training {

std::string backend_name() {
  const std::string name = std::string("LibTorch ") + TORCH_VERSION;
  const at::CUDAHooksInterface& cuda = at::detail::getCUDAHooks();
  if (!cuda.hasCUDART()) return name + " without CUDA";
  const long version = cuda.versionCUDART();  // 12040 is 12.4
  return name + " with CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string platform_name() {
  utsname system{};
  if (::uname(&system) != 0) return "";
  std::string name = std::string(system.sysname) + " " + system.machine;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

wire::ComputeDevice describe_devices(const std::vector<std::string>& names, const Processor& processor) {
  const c10::Device first(names.front());
  wire::ComputeDevice device;
  device.kind = c10::DeviceTypeName(first.type(), /*lower_case=*/true);
  device.count = static_cast<int>(names.size());
  device.backend = backend_name();
  device.platform = platform_name();
  if (first.is_cpu()) {
    device.name = processor.name;
    device.memory_bytes = processor.memory_bytes;
  } else {
    const GraphicsCard card = graphics_card(first.has_index() ? first.index() : 0);
    device.name = card.name;
    device.memory_bytes = card.memory_bytes;
  }
  return device;
}

}  // namespace starling::training
