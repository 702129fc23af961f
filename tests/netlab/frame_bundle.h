// The packets that a network card exchanges with the kernel: an Ethernet frame after a header of the device
// (virtio_net_hdr), or a bundle, many TCP segments under one set of headers. A card cuts what it sends (TSO), and joins
// what it receives (GRO). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starling::netlab {

// The device's header before each frame: virtio_net_hdr, whose own header is not C++.
struct DeviceHeader {
  std::uint8_t flags = 0;
  std::uint8_t bundle_type = 0;  // 0: a single frame
  std::uint16_t headers_bytes = 0;
  std::uint16_t payload_bytes = 0;  // payload of each frame of a bundle except the last
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
inline constexpr std::size_t kDeviceHeaderBytes = sizeof(DeviceHeader);
inline constexpr std::size_t kEthernetBytes = 14;

// Frames on the line; 1 for a packet that is no bundle.
std::size_t frames_in(std::span<const std::uint8_t> bundle);
// Bytes on the line, including Ethernet's overhead of each frame.
std::size_t wire_bytes(std::span<const std::uint8_t> bundle);
// `count` of a bundle's frames from `first` on, as a bundle of their own: the rest when others are lost.
std::vector<std::uint8_t> part_of(std::span<const std::uint8_t> bundle, std::size_t first, std::size_t count);

}  // namespace starling::netlab
