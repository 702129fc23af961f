#include "coordinator/core/devices_in_use.h"

#include <fmt/core.h>

namespace starling::core {
namespace {

std::string computers(int count) { return count == 1 ? "1 computer" : fmt::format("{} computers", count); }

}  // namespace

std::string to_text(const DevicesAlike& devices) {
  const wire::ComputeDevice& device = devices.device;
  std::string text = fmt::format("{}: {}", computers(devices.members), wire::to_text(device));
  if (devices.some_have_more) text += "; some have more memory";
  if (!device.card_unused.empty()) text += "; a graphics card is not used: " + device.card_unused;
  return text;
}

std::vector<std::string> device_lines(const DevicesInUse& devices) {
  std::vector<std::string> lines;
  for (const DevicesAlike& alike : devices.alike) lines.push_back(to_text(alike));
  if (devices.others > 0) lines.push_back(computers(devices.others) + ": further devices");
  if (devices.untold > 0) {
    lines.push_back(computers(devices.untold) + ": not told yet, or the program is older than that");
  }
  return lines;
}

}  // namespace starling::core
