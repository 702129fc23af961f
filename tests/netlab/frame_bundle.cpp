#include "tests/netlab/frame_bundle.h"

#include <algorithm>
#include <cstring>

#include "shared/base/verify.h"

namespace starling::netlab {
namespace {

// Preamble, checksum and gap of a frame on an Ethernet line.
constexpr std::size_t kFrameOverheadBytes = 24;
constexpr std::size_t kIpBytesMin = 20;
constexpr std::size_t kTcpBytesMin = 20;
// Flags that a card sets only in a bundle's last frame, and only in its first (RFC 9293, section 3.1; RFC 3168, section
// 6.1.2).
constexpr std::uint8_t kOfTheLast = 0x01 | 0x08;  // FIN, PSH
constexpr std::uint8_t kOfTheFirst = 0x80;        // CWR

std::uint32_t load(std::span<const std::uint8_t> bytes) {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

void store(std::uint32_t value, std::span<std::uint8_t> bytes) {
  for (std::size_t i = bytes.size(); i-- > 0; value >>= 8) bytes[i] = static_cast<std::uint8_t>(value);
}

// Folds a ones' complement sum (RFC 1071).
std::uint32_t fold(std::uint32_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

DeviceHeader device_header(std::span<const std::uint8_t> bundle) {
  DeviceHeader header;
  if (bundle.size() >= kDeviceHeaderBytes) std::memcpy(&header, bundle.data(), kDeviceHeaderBytes);
  return header;
}

// Offsets in a bundle, which is TCP over IPv4.
struct Layout {
  std::size_t ip_bytes = 0;
  std::size_t tcp_at = 0;
  std::size_t payload_at = 0;  // the end if it is no bundle
  std::size_t segment_bytes = 0;

  explicit Layout(std::span<const std::uint8_t> bundle) : payload_at(bundle.size()) {
    const DeviceHeader device = device_header(bundle);
    const std::size_t ip_at = kDeviceHeaderBytes + kEthernetBytes;
    if (device.bundle_type == 0 || device.payload_bytes == 0) return;
    if (bundle.size() < ip_at + kIpBytesMin + kTcpBytesMin) return;
    ip_bytes = std::size_t{4} * (bundle[ip_at] & 0x0f);
    tcp_at = ip_at + ip_bytes;
    if (ip_bytes < kIpBytesMin || bundle.size() < tcp_at + kTcpBytesMin) return;
    payload_at = std::min(bundle.size(), tcp_at + std::size_t{4} * (bundle[tcp_at + 12] >> 4));
    segment_bytes = device.payload_bytes;
  }

  [[nodiscard]] std::size_t frames(std::size_t bundle_bytes) const {
    if (segment_bytes == 0) return 1;
    return std::max<std::size_t>(1, (bundle_bytes - payload_at + segment_bytes - 1) / segment_bytes);
  }
};

}  // namespace

std::size_t frames_in(std::span<const std::uint8_t> bundle) { return Layout(bundle).frames(bundle.size()); }

std::size_t wire_bytes(std::span<const std::uint8_t> bundle) {
  const Layout layout(bundle);
  const std::size_t frames = layout.frames(bundle.size());
  return bundle.size() - kDeviceHeaderBytes + (frames - 1) * (layout.payload_at - kDeviceHeaderBytes) +
         frames * kFrameOverheadBytes;
}

std::vector<std::uint8_t> part_of(std::span<const std::uint8_t> bundle, std::size_t first, std::size_t count) {
  const Layout layout(bundle);
  const std::size_t frames = layout.frames(bundle.size());
  VERIFY(count > 0 && first + count <= frames);
  if (count == frames) return {bundle.begin(), bundle.end()};
  const std::size_t skipped = first * layout.segment_bytes;
  const auto payload = bundle.subspan(layout.payload_at + skipped);
  const auto kept = payload.first(std::min(payload.size(), count * layout.segment_bytes));
  std::vector<std::uint8_t> part(bundle.begin(), bundle.begin() + static_cast<std::ptrdiff_t>(layout.payload_at));
  part.insert(part.end(), kept.begin(), kept.end());

  DeviceHeader device = device_header(bundle);
  if (count == 1) device.bundle_type = 0;
  if (count == 1) device.payload_bytes = 0;
  std::memcpy(part.data(), &device, kDeviceHeaderBytes);

  const std::span ip = std::span(part).subspan(kDeviceHeaderBytes + kEthernetBytes, layout.ip_bytes);
  const auto ip_total = static_cast<std::uint32_t>(part.size() - kDeviceHeaderBytes - kEthernetBytes);
  const std::uint32_t less = load(ip.subspan(2, 2)) - ip_total;
  store(ip_total, ip.subspan(2, 2));
  store(load(ip.subspan(4, 2)) + static_cast<std::uint32_t>(first), ip.subspan(4, 2));
  store(0, ip.subspan(10, 2));
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < ip.size(); i += 2) sum += load(ip.subspan(i, 2));
  store(~fold(sum), ip.subspan(10, 2));

  // TCP's checksum field covers only addresses and length so far: the device adds the rest.
  const std::span tcp = std::span(part).subspan(layout.tcp_at);
  store(load(tcp.subspan(4, 4)) + static_cast<std::uint32_t>(skipped), tcp.subspan(4, 4));
  if (first > 0) tcp[13] &= static_cast<std::uint8_t>(~kOfTheFirst);
  if (first + count < frames) tcp[13] &= static_cast<std::uint8_t>(~kOfTheLast);
  store(fold(load(tcp.subspan(16, 2)) + (~less & 0xffff)), tcp.subspan(16, 2));
  return part;
}

}  // namespace starling::netlab
