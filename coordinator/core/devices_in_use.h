// The devices that members compute on, by their own words: for operators to see. No decision goes by it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/protocol/compute_device.h"

namespace starling::core {

constexpr std::size_t kDevicesShownMax = 20;

// How many members that should compute do so on what.
struct DeviceSums {
  int on_processors = 0;
  int on_cards = 0;
  int untold = 0;  // their trainers have not started yet, or their programs are older

  friend bool operator==(const DeviceSums&, const DeviceSums&) = default;
};

// Members whose devices are alike in all but memory.
struct DevicesAlike {
  wire::ComputeDevice device;  // that with the least memory
  int members = 0;
  bool some_have_more = false;  // memory
};

// The most frequent devices first; plain text that members wrote.
struct DevicesInUse {
  std::vector<DevicesAlike> alike;  // at most kDevicesShownMax
  int others = 0;                   // members on further devices
  int untold = 0;
};

// "3 computers: NVIDIA A40, 48.0 GB memory, bf16, LibTorch 2.6.0 with CUDA 12.4", with the reason why a card is not
// used, if any.
std::string to_text(const DevicesAlike& devices);
// Lines for people, without full stops; empty where nobody should compute.
std::vector<std::string> device_lines(const DevicesInUse& devices);

}  // namespace starling::core
