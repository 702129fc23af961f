#include "client/transport/frame_writer.h"

#include <algorithm>

namespace starling::transport {

void FrameWriter::enqueue(const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  std::vector<std::uint8_t> bytes(wire::kFrameHeaderBytes + payload.size());
  wire::encode_header(header, std::span(bytes).first<wire::kFrameHeaderBytes>());
  std::copy(payload.begin(), payload.end(), bytes.begin() + wire::kFrameHeaderBytes);
  queued_bytes_ += bytes.size();
  queue_.push_back(std::move(bytes));
}

IoState FrameWriter::write(TlsStream& stream, bool pulling, std::ptrdiff_t& budget) {
  while (budget > 0 && (loaded_ || load(pulling))) {
    if (const IoState state = write_rest(stream, budget); state != IoState::done) return state;
  }
  return IoState::done;
}

bool FrameWriter::load(bool pulling) {
  if (!queue_.empty()) {
    queued_bytes_ -= queue_.front().size();
    current_.frame.head = std::move(queue_.front());
    current_.frame.payload = {};
    queue_.pop_front();
  } else if (!pulling || !pull_(current_)) {
    return false;
  }
  head_sent_ = payload_sent_ = 0;
  loaded_ = true;
  return true;
}

IoState FrameWriter::write_rest(TlsStream& stream, std::ptrdiff_t& budget) {
  const std::span<const std::uint8_t> head = current_.frame.head;
  const std::span<const std::uint8_t> payload = current_.frame.payload;
  while (head_sent_ < head.size() || payload_sent_ < payload.size()) {
    if (budget <= 0) return IoState::done;  // the rest of it another time
    const bool in_head = head_sent_ < head.size();
    const auto rest = in_head ? head.subspan(head_sent_) : payload.subspan(payload_sent_);
    const std::size_t piece = std::min(rest.size(), std::max(static_cast<std::size_t>(budget), offered_));
    const IoStep step = stream.write(rest.first(piece));
    offered_ = step.state == IoState::done ? 0 : piece;
    if (step.state != IoState::done) return step.state;
    (in_head ? head_sent_ : payload_sent_) += step.bytes;
    budget -= static_cast<std::ptrdiff_t>(step.bytes);
  }
  loaded_ = false;
  current_.owner.reset();
  return IoState::done;
}

void FrameWriter::detach_payload() {
  if (!loaded_ || current_.owner != nullptr || current_.frame.payload.empty()) return;
  const auto rest = current_.frame.payload.subspan(payload_sent_);
  const auto copy = std::make_shared<const std::vector<std::uint8_t>>(rest.begin(), rest.end());
  current_.frame.payload = *copy;
  current_.owner = copy;
  payload_sent_ = 0;
}

}  // namespace starling::transport
