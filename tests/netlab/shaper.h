// The path of a frame between two homes: the sender's uplink, the delay, the receiver's downlink. Pure: time is an
// argument, and randomness comes from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <random>
#include <span>
#include <vector>

#include "tests/netlab/link_spec.h"

namespace starling::netlab {

// One direction of an access link: a line of fixed rate behind a buffer that drops frames that do not fit.
class Line {
 public:
  Line(double mbit, Duration buffer) : ns_per_byte_(8000.0 / mbit), buffer_(buffer) {}
  // The moment when a frame that arrives now has left; empty when the buffer is full.
  std::optional<TimePoint> pass(TimePoint now, std::size_t wire_bytes);

 private:
  double ns_per_byte_;
  Duration buffer_;
  TimePoint free_{};
};

struct ShaperOptions {
  Duration buffer = std::chrono::milliseconds(100);  // size of each line's buffer, as time at its rate
  double loss = 0;                                   // loss of single frames between two homes, as a fraction
  std::uint64_t seed = 1;
};

class Shaper {
 public:
  struct Frame {
    std::vector<std::uint8_t> bytes;  // one frame or a bundle, see frame_bundle.h
    std::size_t wire_bytes = 0;       // with all headers, preambles and gaps
    bool spared = false;              // never lost at random
  };
  struct Delivery {
    std::size_t from = 0;
    std::size_t to = 0;
    Frame frame;
  };

  Shaper(std::span<const LinkSpec> links, const ShaperOptions& options);

  // Sends a frame from home `from` to home `to`; send_to_all() sends it to all others, over its uplink once.
  void send(TimePoint now, std::size_t from, std::size_t to, Frame frame);
  void send_to_all(TimePoint now, std::size_t from, const Frame& frame);

  // The next frame that has arrived by now.
  std::optional<Delivery> arrived(TimePoint now);
  // The moment to call arrived() again; kNever when no frame is on its way.
  [[nodiscard]] TimePoint next() const { return on_way_.empty() ? kNever : on_way_.top().at; }

 private:
  struct Travel {
    TimePoint at{};
    std::uint64_t number = 0;  // orders equal times: first in, first out
    std::size_t from = 0;
    std::size_t to = 0;
    bool down_line_passed = false;
    std::size_t slot = 0;  // index of its frame in frames_
  };
  struct Later {
    bool operator()(const Travel& a, const Travel& b) const { return a.at != b.at ? a.at > b.at : a.number > b.number; }
  };
  void travel(TimePoint left, std::size_t from, std::size_t to, Frame frame);
  void set_out(TimePoint left, std::size_t from, std::size_t to, Frame frame);
  [[nodiscard]] bool loses_one() { return std::uniform_real_distribution<double>(0, 1)(chance_) < loss_; }

  std::vector<LinkSpec> links_;
  std::vector<Line> up_;
  std::vector<Line> down_;
  double loss_;
  std::mt19937_64 chance_;
  std::uint64_t numbers_ = 0;
  std::priority_queue<Travel, std::vector<Travel>, Later> on_way_;
  std::vector<Frame> frames_;
  std::vector<std::size_t> free_slots_;
};

}  // namespace starling::netlab
