// Which congestion control a link's streams have. bbr, where the system has it, is slowed down least by losses and by
// others' full queues; but a stream that was bbr's once is paced by the kernel for good, packet by packet, which takes
// a tenth of all the CPU time over loopback. So streams begin without it, and near ones stay so.
#pragma once

#include <string>

namespace starling::transport {

// Of a stream of which no more is known, that is near, or that its owner paces.
inline constexpr const char* kPlainCongestionControl = "cubic";

// Where the system does not have it or does not allow it, or the name is empty, its own choice stays.
void set_congestion_control(int fd, const std::string& name);

// Of a socket that is to be connected, or to listen, for streams that may ask for `wanted` later.
void begin_congestion_control(int fd, const std::string& wanted);

// Empty for what is no TCP socket.
std::string congestion_control_of(int fd);

// Whether a stream is slowed down by any packet that is lost; bbr is not.
bool is_loss_based(int fd);

}  // namespace starling::transport
