// The device that a trainer computes on, by the trainer's own word: for its owner and for operators to see. Only audits
// go by it, which know how far apart computers of one kind are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace starling::wire {

constexpr std::size_t kDeviceWordBytesMax = 32;  // kind, precision
constexpr std::size_t kDeviceNameBytesMax = 100;
constexpr std::size_t kBackendBytesMax = 80;
constexpr std::size_t kCardUnusedBytesMax = 200;
constexpr int kDevicesMax = 1024;  // that share a batch

// One device, or several of one kind and name.
struct ComputeDevice {
  std::string kind{};                 // LibTorch's word for it: "cpu", "cuda"
  int count = 1;                      // number of those that share every batch
  std::string name{};                 // the driver's or the kernel's; empty: they have none for it
  std::int64_t memory_bytes = 0;      // each device's own; a processor's: this computer's; 0: not known
  std::int64_t memory_max_bytes = 0;  // limit of it that the trainer keeps to; 0: none
  std::string backend{};              // "LibTorch 2.6.0 with CUDA 12.4", "LibTorch 1.13.1 without CUDA"
  std::string precision{};            // that of matrix products: "fp32", "tf32", "bf16"
  std::string platform{};             // operating system and processor family: "linux x86_64"
  std::string card_unused{};  // why no graphics card of this computer computes; empty: one does, or there is none

  [[nodiscard]] bool is_processor() const { return kind == "cpu"; }
  friend bool operator==(const ComputeDevice&, const ComputeDevice&) = default;
};

// Returns the device within the bounds of messages: texts are plain, and end between two letters.
ComputeDevice within_bounds(ComputeDevice device);

// For people: "2 × NVIDIA A40, at most 24.0 of 48.0 GB memory each, bf16, LibTorch 2.6.0 with CUDA 12.4". Without
// the reason why a card is not used.
std::string to_text(const ComputeDevice& device);

}  // namespace starling::wire
