#include "client/transport/socket_buffers.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "shared/net/line.h"

namespace starling::transport {
namespace {

// Unsent bytes in the kernel beyond which a socket counts as full: as much as flows in kNotSentTime. It is enough to
// keep the socket busy until we come round again, and little enough that urgent frames do not queue behind others, that
// links keep in step, and that data stays in the cache. With ticks we come round rarely.
constexpr int kNotSentMax = 256 * 1024;
constexpr int kNotSentMin = 32 * 1024;
constexpr Duration kNotSentTime = std::chrono::milliseconds(40);
constexpr Duration kNotSentTimeInTicks = std::chrono::milliseconds(80);
// Input may gather for about this long, within one frame, so that not every packet wakes us; less on a slow link, so
// that it shows signs of life.
constexpr Duration kGatherTime = std::chrono::milliseconds(10);
constexpr int kGatherMin = 4 * 1024;
constexpr int kGatherMax = 64 * 1024;
// More input than this wakes us before the next tick. The kernel enlarges a socket's buffer to hold it; where the
// download is limited, this much must not lie there unread.
constexpr int kTickInputMax = 256 * 1024;
// A link faster than this (bytes/s) brings that much at once anyway.
constexpr double kGatherRateMax = 50e6;

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

}  // namespace

SocketBuffers::SocketBuffers() : gather_max_(kGatherMin), unsent_max_(kNotSentMax) {}

// Send and receive buffers are left to the kernel. Setting them would switch off its tuning, and the limit for
// unprivileged programs is far below the needs of a long fast path.
void SocketBuffers::begin(int fd) { set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kNotSentMax); }

std::size_t SocketBuffers::unsent_max() const { return static_cast<std::size_t>(yields_ ? kNotSentMin : unsent_max_); }

bool SocketBuffers::limits_unsent() const { return unsent_max_ < kNotSentMax; }

void SocketBuffers::set_yields(int fd, bool yields) {
  if (yields_ == yields) return;
  yields_ = yields;
  set_unsent_max(fd);
}

void SocketBuffers::on_sent(int fd, double bytes_per_s, bool ticks) {
  const double fits = bytes_per_s * to_seconds(ticks ? kNotSentTimeInTicks : kNotSentTime);
  const int limit = static_cast<int>(std::clamp<double>(fits, kNotSentMin, kNotSentMax));
  if (limit > unsent_max_ * 3 / 4 && limit < unsent_max_ * 4 / 3) return;
  unsent_max_ = limit;
  set_unsent_max(fd);
}

void SocketBuffers::set_unsent_max(int fd) const {
  set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, yields_ ? kNotSentMin : unsent_max_);
}

std::size_t SocketBuffers::gather_in_ticks(bool limited) { return limited ? kGatherMax : kTickInputMax; }

bool SocketBuffers::on_received(double bytes_per_s) {
  const double gathers = std::clamp<double>(bytes_per_s * to_seconds(kGatherTime), kGatherMin, kGatherMax);
  gather_max_ = bytes_per_s > kGatherRateMax ? 1 : static_cast<int>(gathers);
  return wakes_at_ > gather_max_;
}

void SocketBuffers::wake_at(int fd, std::size_t bytes) {
  const int wakes_at = static_cast<int>(bytes);
  if (wakes_at == wakes_at_) return;
  wakes_at_ = wakes_at;
  set_option(fd, SOL_SOCKET, SO_RCVLOWAT, wakes_at);
}

void SocketBuffers::limit_window(int fd, double bytes_per_s) {
  if (bytes_per_s <= 0 && !window_limited_) return;
  window_limited_ = true;
  net::limit_window(fd, bytes_per_s);
}

}  // namespace starling::transport
