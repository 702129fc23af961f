// The share of one TCP connection in the volunteer's line: charges what the kernel counts, and reserves the turns of
// long messages. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/clock.h"
#include "shared/net/line.h"

namespace starling::net {

class LineAccount {
 public:
  // How much may pass, and when; `due` may be over already.
  struct Turn {
    std::size_t bytes = 0;
    TimePoint due{};
  };

  // `fd` is a socket, which stays open, and the line stays there, as long as this. Null: nothing is charged.
  LineAccount(int fd, Line* line) : fd_(fd), line_(line) {}
  // Charges the rest, and returns what was reserved and did not pass.
  ~LineAccount();
  LineAccount(const LineAccount&) = delete;
  LineAccount& operator=(const LineAccount&) = delete;

  // Charges the line with the bytes that passed since the last call.
  void settle();
  // Makes the receive window of a connection fit the limit; before the first bytes of a long message.
  void fit_window();
  // Reserves the next bytes of a long message, at most `wanted`. The caller waits until they are due.
  Turn download_turn(std::size_t wanted);
  Turn upload_turn(std::size_t wanted);

 private:
  int fd_;
  Line* line_;
  WireBytes settled_;
  struct {
    double sent = 0;
    double received = 0;
  } prepaid_;                        // bytes that were reserved and have not passed yet
  std::int64_t repeated_bytes_ = 0;  // repeated_bytes() at the last turn
  double window_limit_ = 0;          // limit that the connection's window was set for; 0: none
};

}  // namespace starling::net
