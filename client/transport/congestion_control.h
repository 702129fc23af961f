// The congestion control of a link's streams. bbr, where the system has it, is slowed down least by losses and by
// others' full queues. But once a stream has used bbr, the kernel paces it for good, packet by packet, which takes a
// tenth of all CPU time over loopback. So streams begin without it, and near ones stay without it.
#pragma once

#include <optional>
#include <string>

#include "client/transport/tcp_counters.h"
#include "shared/base/clock.h"

namespace starling::transport {

// For a stream about which no more is known, or that is near.
inline constexpr const char* kPlainCongestionControl = "cubic";

// If the name is empty, or the system does not have or does not allow it, the system's own choice stays.
void set_congestion_control(int fd, const std::string& name);

// For a socket that will be connected, or listen, for streams that may ask for `wanted` later.
void begin_congestion_control(int fd, const std::string& wanted);

// Empty for anything but a TCP socket.
std::string congestion_control_of(int fd);

// Whether any lost packet slows a stream down; bbr is not slowed down by losses.
bool is_loss_based(int fd);

// Makes a stream under bbr forget everything that it has found out about its line.
void begin_anew(int fd, const std::string& name);

// Decides when to restart bbr (begin_anew) on a stream that its owner paces. Once bbr knows a line, it sends at the
// rate of recent arrivals. With pacing ticks that is the rate its owner allowed, and bbr sends it in pieces of a
// millisecond's worth, down to two packets with a timer for each. Every ten seconds it also stops to look for the
// shortest round trip; after a longer rest it does so at the first acknowledgement. Before all that (startup in
// draft-cardwell-iccrg-bbr-congestion-control, section 4.3.1) it sends 2.9 windows a round trip, does not slow down
// whatever is lost as long as there is less to send than that, and does not narrow its window. Pure: time is an
// argument.
class WhilePaced {
 public:
  // Call it before the first output, and several times a second. Returns whether to restart bbr now.
  bool renews(TimePoint now, const TcpCounters& counters);

 private:
  std::optional<TimePoint> renewed_at_;
};

}  // namespace starling::transport
