// A link's control frames that no stream has taken yet: they are small, and go before all others.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "client/transport/frame_order.h"

namespace starling::transport {

class ControlQueue {
 public:
  void push(std::vector<std::uint8_t> frame) {
    bytes_ += frame.size();
    frames_.push_back(std::move(frame));
  }
  [[nodiscard]] bool empty() const { return frames_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  std::vector<std::uint8_t> pop() {
    std::vector<std::uint8_t> frame = std::move(frames_.front());
    frames_.pop_front();
    bytes_ -= frame.size();
    return frame;
  }
  // All frames, with their numbers, one after another.
  std::vector<std::uint8_t> take_all(FrameCount& sent) {
    std::vector<std::uint8_t> all;
    while (!empty()) {
      std::vector<std::uint8_t> frame = pop();
      sent.stamp(std::span(frame).first<wire::kFrameHeaderBytes>());
      all.insert(all.end(), frame.begin(), frame.end());
    }
    return all;
  }

 private:
  std::deque<std::vector<std::uint8_t>> frames_;
  std::size_t bytes_ = 0;
};

}  // namespace starling::transport
