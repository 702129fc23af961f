#include "client/transport/upload_probe.h"

#include <algorithm>
#include <array>

#include "shared/wire/frames.h"

namespace starling::transport {
namespace {

constexpr std::int64_t kFrameBytes = 32 * 1024;
const std::array<std::uint8_t, kFrameBytes> kNothing{};

}  // namespace

void UploadProbe::begin(TimePoint now, const Link* link, std::int64_t state_bytes, std::int64_t acknowledged) {
  begun_ = true;
  wanted_ = left_ = std::min(kBytesMax, state_bytes / kShareOfState) / kFrameBytes * kFrameBytes;
  if (wanted_ < kBytesMin) return;
  link_ = link;
  began_ = now;
  acknowledged_ = acknowledged;
}

// A chunk that belongs to no transfer: its receiver reads past it.
bool UploadProbe::next_frame(const Link* link, FrameToSend& frame) {
  if (link_ == nullptr || link != link_ || left_ <= 0) return false;
  wire::FrameHeader header;
  header.type = wire::FrameType::state_chunk;
  header.payload_bytes = kFrameBytes;
  frame.frame.head.resize(wire::kFrameHeaderBytes);
  wire::encode_header(header, std::span(frame.frame.head).first<wire::kFrameHeaderBytes>());
  frame.frame.payload = kNothing;
  frame.owner = nullptr;
  left_ -= kFrameBytes;
  return true;
}

void UploadProbe::forget(const Link* link) {
  if (link != link_) return;
  link_ = nullptr;
  begun_ = false;
}

double UploadProbe::note(TimePoint now, std::int64_t acknowledged) {
  if (link_ == nullptr) return 0;
  const std::int64_t moved = acknowledged - acknowledged_;
  if (moved < wanted_ && now < began_ + kTimeMax) return 0;
  link_ = nullptr;
  return static_cast<double>(moved) / std::max(to_seconds(now - began_), 1e-3);
}

}  // namespace starling::transport
