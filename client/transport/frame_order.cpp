#include "client/transport/frame_order.h"

#include <fmt/core.h>

#include <utility>

namespace starling::transport {
namespace {

// Numbers go round; what seems farther ahead lies behind.
constexpr std::uint32_t kFarthest = UINT32_MAX / 2;

}  // namespace

Result<FrameOrder::Turn> FrameOrder::turn_of(const wire::FrameHeader& header) const {
  const std::uint32_t ahead = header.number - next_;
  if (ahead == 0) return Turn::now;
  if (ahead > kFarthest || held_.contains(header.number)) {
    return Error{ErrorCode::corrupt, fmt::format("frame {} came again", header.number)};
  }
  const bool room = held_.size() < kHeldFramesMax && held_bytes_ + header.payload_bytes <= kHeldBytesMax;
  return room ? Turn::early : Turn::wait;
}

Status FrameOrder::hold(Held frame) {
  const std::uint32_t number = frame.header.number;
  const std::size_t bytes = frame.header.payload_bytes;
  if (!held_.emplace(number, std::move(frame)).second) {
    return Error{ErrorCode::corrupt, fmt::format("frame {} came again", number)};
  }
  held_bytes_ += bytes;
  return {};
}

std::optional<FrameOrder::Held> FrameOrder::take_next() {
  auto taken = held_.extract(next_);
  if (taken.empty()) return std::nullopt;
  held_bytes_ -= taken.mapped().header.payload_bytes;
  return std::move(taken.mapped());
}

}  // namespace starling::transport
