// What a newcomer's line carries upwards, before it is given a part in its first round: while it downloads the state,
// it sends a donor what the donor discards, once, for a moment. Nothing flows upwards then otherwise, and the plan
// would take the download's speed for it. Pure: time and TCP's counters are arguments.
#pragma once

#include <cstdint>

#include "client/transport/frame_writer.h"
#include "shared/base/clock.h"

namespace starling::transport {

class Link;

class UploadProbe {
 public:
  static constexpr std::int64_t kBytesMax = 2 * 1024 * 1024;
  static constexpr std::int64_t kBytesMin = 256 * 1024;  // below it, what TCP has in flight at first says too much
  static constexpr int kShareOfState = 4;                // no more than a quarter of what is downloaded
  static constexpr Duration kTimeMax = std::chrono::milliseconds(1500);

  // Once, unless that link is lost before it is over. The link leads to a donor of a state of so many bytes.
  // `acknowledged`: by the other ends of all links, so far.
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
  std::int64_t acknowledged_ = 0;  // when it began
  std::int64_t left_ = 0;          // to be sent
  std::int64_t wanted_ = 0;
};

}  // namespace starling::transport
