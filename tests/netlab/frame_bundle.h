// What a network card is given by the kernel, and gives it: an Ethernet frame behind a header of the device's
// (virtio_net_hdr), or a bundle, many TCP segments under one set of headers. A card cuts what it sends (TSO), and puts
// together again what comes in (GRO). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starling::netlab {

// What the device puts before each frame: virtio_net_hdr, whose own header is not C++.
struct DeviceHeader {
  std::uint8_t flags = 0;
  std::uint8_t bundle_type = 0;  // 0: a single frame
  std::uint16_t headers_bytes = 0;
  std::uint16_t payload_bytes = 0;  // of each frame of a bundle, but for the last
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
inline constexpr std::size_t kDeviceHeaderBytes = sizeof(DeviceHeader);
inline constexpr std::size_t kEthernetBytes = 14;

// Frames on the line; 1 for whatever is no bundle.
std::size_t frames_in(std::span<const std::uint8_t> bundle);
// Bytes on the line, with what Ethernet puts around each frame.
std::size_t wire_bytes(std::span<const std::uint8_t> bundle);
// `count` of a bundle's frames from `first` on, as a bundle of their own: what is left of it when others are lost.
std::vector<std::uint8_t> part_of(std::span<const std::uint8_t> bundle, std::size_t first, std::size_t count);

}  // namespace starling::netlab
