// Which congestion control a link's streams have. bbr, where the system has it, is slowed down least by losses and by
// others' full queues; but a stream that was bbr's once is paced by the kernel for good, packet by packet, which takes
// a tenth of all the CPU time over loopback. So streams begin without it, and near ones stay so.
#pragma once

#include <string>

#include "client/transport/tcp_counters.h"

namespace starling::transport {

// Of a stream of which no more is known, or that is near.
inline constexpr const char* kPlainCongestionControl = "cubic";
// Of a stream of bbr's that its owner paces. Not cubic: to its HyStart (RFC 9406) what waits for the next beat looks
// like a full line, it ends the slow start, and the kernel then paces the stream at 1.2 windows a round trip instead of
// two, in smaller pieces with a timer each. But reno takes long to recover from a loss, see WhilePaced.
inline constexpr const char* kPacedCongestionControl = "reno";

// Where the system does not have it or does not allow it, or the name is empty, its own choice stays.
void set_congestion_control(int fd, const std::string& name);

// Of a socket that is to be connected, or to listen, for streams that may ask for `wanted` later.
void begin_congestion_control(int fd, const std::string& wanted);

// Empty for what is no TCP socket.
std::string congestion_control_of(int fd);

// Whether a stream is slowed down by any packet that is lost; bbr is not.
bool is_loss_based(int fd);

// Whether a stream goes without bbr, which stops now and then to look for the shortest round trip and paces packet by
// packet, while its owner paces it. Not on a line that loses packets. Pure.
class WhilePaced {
 public:
  // From now on its owner paces it. Whether it goes without: by what was lost since the last time.
  bool begin(const TcpCounters& now);
  // Several times a second: whether it did go without until now, and needs bbr back, as a packet was lost.
  bool note(const TcpCounters& now);
  // Its owner does no more: whether it did go without until now.
  bool end();

 private:
  TcpCounters began_at_;
  bool goes_without_ = false;
};

}  // namespace starling::transport
