#include "tests/netlab/shaper.h"

#include <algorithm>
#include <utility>

#include "tests/netlab/frame_bundle.h"

namespace starling::netlab {

std::optional<TimePoint> Line::pass(TimePoint now, std::size_t wire_bytes) {
  const TimePoint begin = std::max(now, free_);
  if (begin - now > buffer_) return std::nullopt;
  free_ = begin + Duration(static_cast<Duration::rep>(static_cast<double>(wire_bytes) * ns_per_byte_));
  return free_;
}

Shaper::Shaper(std::span<const LinkSpec> links, const ShaperOptions& options)
    : links_(links.begin(), links.end()), loss_(options.loss), chance_(options.seed) {
  for (const LinkSpec& link : links_) {
    up_.emplace_back(link.up_mbit, options.buffer);
    down_.emplace_back(link.down_mbit, options.buffer);
  }
}

void Shaper::send(TimePoint now, std::size_t from, std::size_t to, Frame frame) {
  if (const auto left = up_[from].pass(now, frame.wire_bytes)) travel(*left, from, to, std::move(frame));
}

void Shaper::send_to_all(TimePoint now, std::size_t from, const Frame& frame) {
  const auto left = up_[from].pass(now, frame.wire_bytes);
  if (!left) return;
  for (std::size_t to = 0; to < links_.size(); ++to) {
    if (to != from) travel(*left, from, to, frame);
  }
}

// Sends a frame on its way. If a bundle loses frames, the runs between them go on.
void Shaper::travel(TimePoint left, std::size_t from, std::size_t to, Frame frame) {
  if (frame.spared || loss_ <= 0) return set_out(left, from, to, std::move(frame));
  const std::size_t frames = frames_in(frame.bytes);
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= frames; ++i) {
    if (i < frames && !loses_one()) continue;
    const std::size_t run = i - begin;
    if (run == frames) return set_out(left, from, to, std::move(frame));
    if (run > 0) {
      std::vector<std::uint8_t> bytes = part_of(frame.bytes, begin, run);
      const std::size_t on_line = wire_bytes(bytes);
      set_out(left, from, to, {std::move(bytes), on_line, false});
    }
    begin = i + 1;
  }
}

void Shaper::set_out(TimePoint left, std::size_t from, std::size_t to, Frame frame) {
  std::size_t slot = frames_.size();
  if (free_slots_.empty()) {
    frames_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  frames_[slot] = std::move(frame);
  on_way_.push({left + links_[from].delay + links_[to].delay, numbers_++, from, to, false, slot});
}

std::optional<Shaper::Delivery> Shaper::arrived(TimePoint now) {
  while (!on_way_.empty() && on_way_.top().at <= now) {
    Travel travel = on_way_.top();
    on_way_.pop();
    Frame& frame = frames_[travel.slot];
    if (travel.down_line_passed) {
      free_slots_.push_back(travel.slot);
      return Delivery{travel.from, travel.to, std::move(frame)};
    }
    if (const auto left = down_[travel.to].pass(travel.at, frame.wire_bytes)) {
      travel.at = *left;
      travel.down_line_passed = true;
      travel.number = numbers_++;
      on_way_.push(travel);
    } else {
      free_slots_.push_back(travel.slot);
    }
  }
  return std::nullopt;
}

}  // namespace starling::netlab
