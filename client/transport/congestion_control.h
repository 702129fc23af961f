// Which congestion control a link's streams have. bbr, where the system has it, is slowed down least by losses and by
// others' full queues; but a stream that was bbr's once is paced by the kernel for good, packet by packet, which takes
// a tenth of all the CPU time over loopback. So streams begin without it, and near ones stay so.
#pragma once

#include <optional>
#include <string>

#include "client/transport/tcp_counters.h"
#include "shared/base/clock.h"

namespace starling::transport {

// Of a stream of which no more is known, or that is near.
inline constexpr const char* kPlainCongestionControl = "cubic";

// Where the system does not have it or does not allow it, or the name is empty, its own choice stays.
void set_congestion_control(int fd, const std::string& name);

// Of a socket that is to be connected, or to listen, for streams that may ask for `wanted` later.
void begin_congestion_control(int fd, const std::string& wanted);

// Empty for what is no TCP socket.
std::string congestion_control_of(int fd);

// Whether a stream is slowed down by any packet that is lost; bbr is not.
bool is_loss_based(int fd);

// A stream of bbr's forgets all that it has found out of its line.
void begin_anew(int fd, const std::string& name);

// When a stream of bbr's that its owner paces begins anew. Once bbr knows a line, it sends at what has arrived of late,
// which in beats is what its owner let it send, in pieces of a millisecond's worth of it, down to two packets with a
// timer for each; and it stops every ten seconds to look for the shortest round trip, after a longer rest with the
// first acknowledgement. Before all that (startup in draft-cardwell-iccrg-bbr-congestion-control, section 4.3.1) it
// sends 2.9 windows a round trip, does not slow down while there is less to send than that, whatever is lost, and does
// not narrow its window. Pure: time is an argument.
class WhilePaced {
 public:
  // Before the first output, and several times a second: whether it does so now.
  bool renews(TimePoint now, const TcpCounters& counters);

 private:
  std::optional<TimePoint> renewed_at_;
};

}  // namespace starling::transport
