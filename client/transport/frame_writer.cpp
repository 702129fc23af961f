#include "client/transport/frame_writer.h"

#include <algorithm>

namespace starling::transport {

void FrameWriter::say_first(std::vector<std::uint8_t> frame) {
  VERIFY(!loaded_);
  current_.frame.head = std::move(frame);
  loaded_ = true;
}

IoState FrameWriter::write(PeerTlsStream& stream, std::size_t& budget) {
  while (budget > 0 && (loaded_ || load())) {
    if (const IoState state = write_rest(stream, budget); state != IoState::done) return state;
  }
  return IoState::done;
}

bool FrameWriter::load() {
  current_.yields = false;
  if (!pull_(current_)) return false;
  head_sent_ = payload_sent_ = 0;
  loaded_ = true;
  return true;
}

IoState FrameWriter::write_rest(PeerTlsStream& stream, std::size_t& budget) {
  const std::span<const std::uint8_t> head = current_.frame.head;
  const std::span<const std::uint8_t> payload = current_.frame.payload;
  while (head_sent_ < head.size() || payload_sent_ < payload.size()) {
    if (budget == 0) return IoState::done;  // the rest goes out another time
    const bool in_head = head_sent_ < head.size();
    const auto rest = in_head ? head.subspan(head_sent_) : payload.subspan(payload_sent_);
    const IoStep step = stream.write(rest.first(std::min(rest.size(), budget)));
    if (step.state != IoState::done) return step.state;
    (in_head ? head_sent_ : payload_sent_) += step.bytes;
    budget -= step.bytes;
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
