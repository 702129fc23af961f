#include "shared/protocol/compute_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "shared/base/plain_text.h"
#include "shared/base/short_text.h"
#include "shared/protocol/limits.h"

namespace starling::wire {
namespace {

constexpr double kGigabyte = 1e9;

std::string plain_within(std::string_view text, std::size_t bytes_max) {
  return std::string(cut_text(plain_line(text), bytes_max));
}

std::string name_text(const ComputeDevice& device) {
  const std::string name = !device.name.empty()    ? device.name
                           : device.is_processor() ? "a processor without a name"
                                                   : "a device without a name (" + device.kind + ")";
  return device.count > 1 ? fmt::format("{} × {}", device.count, name) : name;
}

std::string memory_text(const ComputeDevice& device) {
  const double own = static_cast<double>(device.memory_bytes) / kGigabyte;
  const double most = static_cast<double>(device.memory_max_bytes) / kGigabyte;
  const std::string_view each = device.count > 1 ? " each" : "";
  if (most > 0 && own > 0) return fmt::format("at most {:.1f} of {:.1f} GB memory{}", most, own, each);
  if (most > 0) return fmt::format("at most {:.1f} GB memory{}", most, each);
  return own > 0 ? fmt::format("{:.1f} GB memory{}", own, each) : "";
}

}  // namespace

ComputeDevice within_bounds(ComputeDevice device) {
  const auto bounded = [](std::int64_t bytes) { return std::clamp<std::int64_t>(bytes, 0, kMessageCountMax); };
  device.kind = plain_within(device.kind, kDeviceWordBytesMax);
  device.count = std::clamp(device.count, 1, kDevicesMax);
  device.name = plain_within(device.name, kDeviceNameBytesMax);
  device.memory_bytes = bounded(device.memory_bytes);
  device.memory_max_bytes = bounded(device.memory_max_bytes);
  device.backend = plain_within(device.backend, kBackendBytesMax);
  device.precision = plain_within(device.precision, kDeviceWordBytesMax);
  device.platform = plain_within(device.platform, kDeviceWordBytesMax);
  device.card_unused = plain_within(device.card_unused, kCardUnusedBytesMax);
  return device;
}

std::string to_text(const ComputeDevice& device) {
  std::string text = name_text(device);
  for (const std::string& part : {memory_text(device), device.precision, device.backend}) {
    if (!part.empty()) text += ", " + part;
  }
  return text;
}

}  // namespace starling::wire
