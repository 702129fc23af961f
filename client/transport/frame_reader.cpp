#include "client/transport/frame_reader.h"

#include <algorithm>

namespace starling::transport {
namespace {

// Size limit of the pieces in which unwanted payloads are read past.
constexpr std::size_t kDiscardBytes = 16 * 1024;

}  // namespace

std::span<std::uint8_t> FrameReader::target() {
  if (head_bytes_ < head_.size()) return std::span(head_).subspan(head_bytes_);
  const std::size_t left = header_.payload_bytes - payload_bytes_;
  return wanted_ ? std::span(buffer_).subspan(payload_bytes_, left)
                 : std::span(buffer_).first(std::min(left, buffer_.size()));
}

std::size_t FrameReader::bytes_missing() const {
  if (head_bytes_ < head_.size()) return head_bytes_ == 0 ? 1 : head_.size() - head_bytes_;
  return header_.payload_bytes - payload_bytes_;
}

Result<FrameReader::Event> FrameReader::advance(std::size_t bytes) {
  if (head_bytes_ < head_.size()) {
    head_bytes_ += bytes;
    if (head_bytes_ < head_.size()) return Event::none;
    STARLING_ASSIGN(header_, wire::decode_header(head_));
    return Event::header;
  }
  payload_bytes_ += bytes;
  if (payload_bytes_ < header_.payload_bytes) return Event::none;
  head_bytes_ = 0;
  return Event::frame;
}

FrameReader::Event FrameReader::begin_payload(bool wanted) {
  wanted_ = wanted;
  payload_bytes_ = 0;
  if (header_.payload_bytes == 0) {
    head_bytes_ = 0;
    return Event::frame;
  }
  const std::size_t needed = wanted ? header_.payload_bytes : kDiscardBytes;
  const bool too_large = wanted && needed >= kDiscardBytes && buffer_.size() >= 2 * needed;
  if (buffer_.size() < needed || too_large) buffer_ = std::vector<std::uint8_t>(needed);
  return Event::none;
}

std::span<const std::uint8_t> FrameReader::payload() const {
  return wanted_ ? std::span(buffer_).first(header_.payload_bytes) : std::span<const std::uint8_t>();
}

}  // namespace starling::transport
