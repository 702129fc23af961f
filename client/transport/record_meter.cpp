#include "client/transport/record_meter.h"

#include <algorithm>

namespace starling::transport {
namespace {

// What every encrypted record holds beside plaintext: its true type and the cipher's tag.
constexpr std::size_t kSealBytes = 17;

}  // namespace

void RecordMeter::note(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    if (header_bytes_ < kHeaderBytes) {
      if (header_bytes_ >= 3) body_bytes_ = body_bytes_ << 8 | bytes.front();
      bytes = bytes.subspan(1);
      if (++header_bytes_ == kHeaderBytes) body_left_ = body_bytes_ & 0xffff;
    } else {
      const std::size_t taken = std::min(bytes.size(), body_left_);
      bytes = bytes.subspan(taken);
      body_left_ -= taken;
    }
    if (header_bytes_ == kHeaderBytes && body_left_ == 0) header_bytes_ = body_bytes_ = 0;
  }
}

std::size_t RecordMeter::bytes_before(std::size_t plaintext) const {
  if (header_bytes_ < kHeaderBytes) return std::max<std::size_t>(1, plaintext);
  const std::size_t in_record = body_bytes_ > kSealBytes ? body_bytes_ - kSealBytes : 0;
  return body_left_ + (plaintext > in_record ? plaintext - in_record : 0);
}

}  // namespace starling::transport
