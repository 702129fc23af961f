// Measures the upload speed of a newcomer's line before it is given a part in its first round. While it downloads the
// state, it sends a donor data to discard, once, for a moment. Nothing else flows upwards then, and the plan would take
// the download's speed for the upload's. Pure: time and TCP's counters are arguments.
#pragma once

#include <cstdint>

#include "client/transport/frame_writer.h"
#include "shared/base/clock.h"

namespace starling::transport {

class Link;

class UploadProbe {
 public:
  static constexpr std::int64_t kBytesMax = 2 * 1024 * 1024;
  static constexpr std::int64_t kBytesMin = 256 * 1024;  // below it, TCP's first packets in flight say too much
  static constexpr int kShareOfState = 4;  // the probe sends at most this fraction (a quarter) of the state's bytes
  static constexpr Duration kTimeMax = std::chrono::milliseconds(1500);

  // Begins once, unless that link is lost before the probe is over. The link leads to a donor of a state of
  // `state_bytes`. `acknowledged`: bytes acknowledged by the other ends of all links so far.
  void begin(TimePoint now, const Link* link, std::int64_t state_bytes, std::int64_t acknowledged);
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] bool running() const { return link_ != nullptr; }

  bool next_frame(const Link* link, FrameToSend& frame);
  void forget(const Link* link);
  // Bytes a second, when the probe is over; 0 before, and where it has shown nothing.
  double note(TimePoint now, std::int64_t acknowledged);

 private:
  const Link* link_ = nullptr;
  bool begun_ = false;
  TimePoint began_{};
  std::int64_t acknowledged_ = 0;  // value when it began
  std::int64_t left_ = 0;          // bytes to be sent
  std::int64_t wanted_ = 0;
};

}  // namespace starling::transport
