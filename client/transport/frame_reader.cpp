#include "client/transport/frame_reader.h"

#include <algorithm>
#include <utility>

namespace starling::transport {
namespace {

// Unwanted payloads are read past in pieces of at most this size.
constexpr std::size_t kDiscardBytes = 16 * 1024;

}  // namespace

std::span<std::uint8_t> FrameReader::target() {
  if (head_bytes_ < head_.size()) return std::span(head_).subspan(head_bytes_);
  const std::size_t left = header_.payload_bytes - payload_bytes_;
  if (!wanted()) {
    if (buffer_.size() < kDiscardBytes) buffer_.resize(kDiscardBytes);
    return std::span(buffer_).first(std::min(left, buffer_.size()));
  }
  if (payload_bytes_ < buffered_) return std::span(buffer_).subspan(payload_bytes_, buffered_ - payload_bytes_);
  return receive_->place.subspan(payload_bytes_ - buffered_);
}

std::size_t FrameReader::bytes_missing() const {
  if (head_bytes_ < head_.size()) return head_bytes_ == 0 ? 1 : head_.size() - head_bytes_;
  return header_.payload_bytes - payload_bytes_;
}

Result<FrameReader::Event> FrameReader::advance(std::size_t bytes) {
  if (head_bytes_ < head_.size()) {
    receive_.reset();
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

FrameReader::Event FrameReader::begin_payload(bool wanted, std::shared_ptr<const averaging::PostedReceive> receive) {
  wanted_ = wanted;
  receive_ = std::move(receive);
  buffered_ = receive_ != nullptr ? receive_->values_at : header_.payload_bytes;
  payload_bytes_ = 0;
  if (header_.payload_bytes == 0) {
    head_bytes_ = 0;
    return Event::frame;
  }
  const bool too_large = buffered_ >= kDiscardBytes && buffer_.size() >= 2 * buffered_;
  if (wanted && (buffer_.size() < buffered_ || too_large)) buffer_ = std::vector<std::uint8_t>(buffered_);
  return Event::none;
}

std::span<const std::uint8_t> FrameReader::payload() const {
  return wanted() ? std::span(buffer_).first(buffered_) : std::span<const std::uint8_t>();
}

}  // namespace starling::transport
